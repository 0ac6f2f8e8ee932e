#include "sim/executor.hpp"

#include <optional>
#include <utility>

#include "sim/deadlock.hpp"

namespace poolpilot::sim {

void Executor::serve(std::uint32_t number, std::uint32_t served) {
  if (served == kNobody) return;
  Thread& thread = engine_.thread(number);
  Connection& connection = connections_[served];
  thread.connection = served;
  connection.thread = number;
  thread.owed_ns += engine_.machine().overhead_us * 1e3;
  if (connection.fresh) {
    connection.fresh = false;
    return engine_.burst(number, 0.0, Phase::kLogin);
  }
  record_wait(connection);
  switch (admit(served)) {
    case Admittance::kPark:
      return park(number);
    case Admittance::kRefuse:
      return engine_.burst(number, 0.0, Phase::kRefusing);
    case Admittance::kRun:
      break;
  }
  if (connection.was_misplaced(connection.class_id)) measures_.counters.misplaced.add();
  thread.step = 0;
  rounds_.begin(number, thread);
  go_on(number);
}

// A request that was parked arrived in an earlier turn, which has recorded that.
void Executor::record_wait(Connection& connection) {
  const auto record = [&](Timing timing, TimeNs since_ns, TimeNs until_ns) {
    measures_.timings.record(timing, whole_us(static_cast<double>(until_ns - since_ns)));
  };
  if (connection.parked_ns >= 0) {
    record(Timing::kAdmissionWait, connection.parked_ns, engine_.now_ns());
    connection.parked_ns = -1;
    return;
  }
  record(Timing::kQueueWait, connection.enqueued_ns, engine_.now_ns());
  if (connection.last_response_ns == 0) return;
  record(Timing::kThink, connection.last_response_ns, connection.enqueued_ns);
}

Admittance Executor::admit(std::uint32_t number) {
  Connection& connection = connections_[number];
  const bool passes = connection.in_transaction || connection.is_admitted() ||
                      !gate_.holds_for(connection.class_id);
  if (passes) return Admittance::kRun;
  const Admittance admittance = gate_.enter(number);
  if (admittance == Admittance::kPark) connection.parked_ns = engine_.now_ns();
  return admittance;
}

// The thread has only looked at the request, and is free for the next.
void Executor::park(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  handler_.parked(thread.connection);
  connections_[thread.connection].thread = kNobody;
  thread.connection = kNobody;
  engine_.burst(number, 0.0, Phase::kParking);
}

void Executor::refused(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  connections_[thread.connection].last_response_ns = engine_.now_ns();
  ++measures_.refused;
  client_.refused(thread.connection, engine_.now_ns(), engine_.events(), connections_);
  give_back(number, thread);
}

// Runs the program until it takes time or ends. Processor time owed goes before the next step that
// does not run on a processor, and together with the next that does: one event for both.
void Executor::go_on(std::uint32_t number) {
  while (true) {
    Thread& thread = engine_.thread(number);
    Connection& connection = connections_[thread.connection];
    const Program& program = client_.program(connection.class_id);
    if (thread.step >= program.steps.size()) {
      if (thread.owed_ns > 0.0) return engine_.burst(number, 0.0);
      return finish(number, true);
    }
    const ProgramStep& step = program.steps[thread.step];
    if (step.op == Op::kCpu) {
      ++thread.step;
      thread.owed_ns += engine_.in_pieces(step.draw_ns(connection.random));
      continue;
    }
    if (thread.owed_ns > 0.0) return engine_.burst(number, 0.0);
    ++thread.step;
    if (!do_step(number, step)) return;
  }
}

// True when the step took no time.
bool Executor::do_step(std::uint32_t number, const ProgramStep& step) {
  const Thread& thread = engine_.thread(number);
  switch (step.op) {
    case Op::kCpu:
      return true;
    case Op::kWait:
      return wait(number, step);
    case Op::kAcquire:
      return acquire(number, step);
    case Op::kRelease:
      latches_.release(thread.connection,
                       step.release_drawn ? thread.drawn[step.latch] : step.latch);
      return true;
    case Op::kBegin:
      connections_[thread.connection].in_transaction = true;
      return true;
    case Op::kCommit:
      return commit(number);
    case Op::kDeclare: {
      Connection& connection = connections_[thread.connection];
      connection.declared_class = connection.class_id;
      connection.priority = step.priority;
      return true;
    }
  }
  return true;
}

bool Executor::wait(std::uint32_t number, const ProgramStep& step) {
  const std::uint32_t connection = engine_.thread(number).connection;
  const double drawn_ns = step.draw_ns(connections_[connection].random);
  if (drawn_ns <= 0.0) return true;
  if (step.reported) measures_.counters.waits[static_cast<std::size_t>(step.kind)].add();
  block(number, step.kind, step.reported);
  if (step.kind == WaitKind::kDiskIo && storage_.has_disks()) {
    storage_.enter_disk(number, drawn_ns);
    return false;
  }
  engine_.thread(number).phase = Phase::kWaiting;
  engine_.schedule(whole_ns(drawn_ns + engine_.machine().timer_slack_us * 1e3), number);
  return false;
}

void Executor::waited(std::uint32_t number) {
  unblock(number);
  go_on(number);
}

bool Executor::acquire(std::uint32_t number, const ProgramStep& step) {
  const LatchTurn turn = latches_.acquire(number, step);
  if (turn == LatchTurn::kMustSleep) sleep_for_latch(number);
  return turn == LatchTurn::kTaken;
}

void Executor::spun(std::uint32_t number) {
  const LatchTurn turn = latches_.spun(number);
  if (turn == LatchTurn::kMustSleep) sleep_for_latch(number);
  if (turn == LatchTurn::kTaken) go_on(number);
}

void Executor::sleep_for_latch(std::uint32_t number) {
  const bool reported = latches_.acquiring(engine_.thread(number)).reported;
  if (reported) measures_.counters.waits[static_cast<std::size_t>(WaitKind::kRowLock)].add();
  block(number, WaitKind::kRowLock, reported);
  latches_.sleep_at_tail(number);
  check_deadlock(number);
}

void Executor::try_latch_again(std::uint32_t number) {
  const LatchTurn turn = latches_.try_again(number);
  if (turn == LatchTurn::kMustSleep) {
    latches_.sleep_at_head(number);
    return check_deadlock(number);
  }
  unblock(number);
  if (turn == LatchTurn::kTaken) return go_on(number);
  finish(number, false);
}

// Without a time-out a thread says when nobody can wake it.
void Executor::check_deadlock(std::uint32_t number) const {
  if (!latches_.waits_for_itself(number)) return;
  throw Deadlock("Threads wait for each other: " + waits_text());
}

bool Executor::commit(std::uint32_t number) {
  if (!storage_.has_log()) {
    abandon(engine_.thread(number).connection);
    return true;
  }
  block(number, WaitKind::kDiskIo, engine_.machine().flush_reported);
  storage_.enter_log(number);
  return false;
}

void Executor::committed(std::uint32_t number) {
  unblock(number);
  abandon(engine_.thread(number).connection);
  go_on(number);
}

void Executor::abandon(std::uint32_t connection) {
  connections_[connection].in_transaction = false;
  if (connections_[connection].held_latches != 0) latches_.release_all(connection);
}

void Executor::finish(std::uint32_t number, bool ok) {
  const std::uint32_t answered = engine_.thread(number).connection;
  Connection& connection = connections_[answered];
  if (!ok || !connection.in_transaction) {
    abandon(answered);
    // Whoever is let in may need a thread, which moves the table of them.
    gate_.leave(answered, number);
  }
  Thread& thread = engine_.thread(number);
  rounds_.finish(number, thread);
  connection.last_response_ns = engine_.now_ns();
  const auto latency_ns = static_cast<double>(engine_.now_ns() - connection.sent_ns);
  measures_.timings.record(latency_of(connection.class_id), whole_us(latency_ns));
  (ok ? measures_.counters.completed : measures_.counters.failed).add();
  client_.answered(answered, engine_.now_ns(), engine_.events(), connections_);
  give_back(number, thread);
}

std::string Executor::waits_text() const {
  return latches_.waits_text(handler_.queued()) + " " + std::to_string(gate_.state().waiting) +
         " wait for admission.";
}

// The thread is done with its connection, and serves the next.
void Executor::give_back(std::uint32_t number, Thread& thread) {
  const std::uint32_t connection = thread.connection;
  connections_[connection].thread = kNobody;
  thread.connection = kNobody;
  handler_.rearm(connection, number);
  serve(number, handler_.next(number));
}

// The thread leaves the processor until an event of its own. The handler may start another, which
// moves the table of threads.
void Executor::block(std::uint32_t number, WaitKind kind, bool reported) {
  rounds_.begin_wait(engine_.thread(number), reported);
  engine_.thread(number).wait_kind = kind;
  if (reported) handler_.wait_begin(number, kind);
}

void Executor::unblock(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  if (thread.wait_reported) handler_.wait_end(number, thread.wait_kind);
  rounds_.end_wait(thread);
}

}  // namespace poolpilot::sim
