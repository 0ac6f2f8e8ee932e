#include "sim/executor.hpp"

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
  const auto queued_ns = static_cast<double>(engine_.now_ns() - connection.enqueued_ns);
  measures_.timings.record(Timing::kQueueWait, whole_us(queued_ns));
  if (connection.last_response_ns > 0) {
    const TimeNs think_ns = connection.enqueued_ns - connection.last_response_ns;
    measures_.timings.record(Timing::kThink, whole_us(static_cast<double>(think_ns)));
  }
  thread.step = 0;
  rounds_.begin(number, thread);
  go_on(number);
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
  Thread& thread = engine_.thread(number);
  const std::uint32_t answered = thread.connection;
  Connection& connection = connections_[answered];
  if (!ok || !connection.in_transaction) abandon(answered);
  rounds_.finish(number, thread);
  connection.last_response_ns = engine_.now_ns();
  const auto latency_ns = static_cast<double>(engine_.now_ns() - connection.sent_ns);
  measures_.timings.record(latency_of(connection.class_id), whole_us(latency_ns));
  (ok ? measures_.counters.completed : measures_.counters.failed).add();
  client_.answered(answered, engine_.now_ns(), engine_.events(), connections_);
  give_back(number, thread);
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
