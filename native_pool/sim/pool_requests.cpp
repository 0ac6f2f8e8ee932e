#include <algorithm>
#include <cmath>

#include "sim/pool.hpp"

namespace poolpilot::sim {

// The step that a thread does now: its counter stands after it.
const ProgramStep& SimulatedPool::step_under_way(const Thread& thread) const {
  return client_.program(connections_[thread.connection].class_id).steps[thread.step - 1U];
}

void SimulatedPool::serve(std::uint32_t number, std::uint32_t served) {
  Thread& thread = threads_[number];
  Connection& connection = connections_[served];
  thread.connection = served;
  connection.thread = number;
  if (connection.fresh) {
    connection.fresh = false;
    thread.owed_ns += settings_.machine.overhead_us * 1e3;
    return burst(number, 0.0, Phase::kLogin);
  }
  timings_.record(Timing::kQueueWait,
                  whole_us(static_cast<double>(now_ns_ - connection.enqueued_ns)));
  if (connection.last_response_ns > 0) {
    const TimeNs think_ns = connection.enqueued_ns - connection.last_response_ns;
    timings_.record(Timing::kThink, whole_us(static_cast<double>(think_ns)));
  }
  thread.step = 0;
  thread.rounds = 0;
  thread.switches = 0;
  thread.put_off_before = cpu_.times_put_off(number);
  thread.run_delay_ns = 0.0;
  begin_round(thread);
  // As in the live server the overhead is no part of the round.
  const double overhead_ns = settings_.machine.overhead_us * 1e3;
  thread.round_begin_ns += whole_ns(overhead_ns);
  thread.round_cpu_ns -= overhead_ns;
  thread.owed_ns += overhead_ns;
  go_on(number);
}

// Runs the program until it takes time or ends. Processor time owed goes before the next step that
// does not run on a processor, and together with the next that does: one event for both.
void SimulatedPool::go_on(std::uint32_t number) {
  while (true) {
    Thread& thread = threads_[number];
    const Program& program = client_.program(connections_[thread.connection].class_id);
    if (thread.step >= program.steps.size()) {
      if (thread.owed_ns > 0.0) return burst(number, 0.0);
      return finish(number, true);
    }
    const ProgramStep& step = program.steps[thread.step];
    if (step.op == Op::kCpu) {
      ++thread.step;
      thread.owed_ns += in_pieces(step.draw_ns(connections_[thread.connection].random));
      continue;
    }
    if (thread.owed_ns > 0.0) return burst(number, 0.0);
    ++thread.step;
    if (!do_step(number, step)) return;
  }
}

// True when the step took no time.
bool SimulatedPool::do_step(std::uint32_t number, const ProgramStep& step) {
  Thread& thread = threads_[number];
  Connection& connection = connections_[thread.connection];
  switch (step.op) {
    case Op::kCpu:
      return true;
    case Op::kWait:
      return wait(number, step);
    case Op::kAcquire:
      return acquire(number, step);
    case Op::kRelease:
      release(thread.connection, step.release_drawn ? thread.drawn[step.latch] : step.latch);
      return true;
    case Op::kBegin:
      connection.in_transaction = true;
      return true;
    case Op::kCommit:
      return commit(number);
  }
  return true;
}

// The live executor works in pieces, and looks at the clock after each.
double SimulatedPool::in_pieces(double cpu_ns) const {
  const double piece_ns = settings_.machine.piece_us * 1e3;
  return piece_ns > 0.0 ? std::ceil(cpu_ns / piece_ns) * piece_ns : cpu_ns;
}

void SimulatedPool::burst(std::uint32_t number, double cpu_ns, Phase phase) {
  Thread& thread = threads_[number];
  thread.phase = phase;
  cpu_.start(now_ns_, number, thread.owed_ns + cpu_ns);
  thread.owed_ns = 0.0;
}

// The thread leaves the processor until an event of its own.
void SimulatedPool::block(std::uint32_t number, bool reported) {
  Thread& thread = threads_[number];
  ++thread.switches;
  thread.off_since_ns = now_ns_;
  thread.wait_reported = reported;
  if (!reported) return;
  end_round(thread);
  const std::uint32_t group = thread.group;
  perform(apply(group, EventKind::kWaitBegin).spawn, group);
}

// A woken thread needs a processor before it can do what it was woken for.
void SimulatedPool::wake(std::uint32_t number) {
  Thread& thread = threads_[number];
  thread.woken_ns = now_ns_;
  burst(number, settings_.machine.wake_cost_us * 1e3, thread.phase);
}

void SimulatedPool::unblock(std::uint32_t number) {
  Thread& thread = threads_[number];
  if (!thread.wait_reported) {
    thread.round_off_ns += static_cast<double>(thread.woken_ns - thread.off_since_ns);
    return;
  }
  thread.wait_reported = false;
  apply(thread.group, EventKind::kWaitEnd);
  timings_.record(Timing::kWaitRound, whole_us(static_cast<double>(now_ns_ - thread.off_since_ns)));
  begin_round(thread);
}

bool SimulatedPool::wait(std::uint32_t number, const ProgramStep& step) {
  const Thread& thread = threads_[number];
  const double drawn_ns = step.draw_ns(connections_[thread.connection].random);
  if (drawn_ns <= 0.0) return true;
  if (step.reported) counters_.waits[static_cast<std::size_t>(step.kind)].add();
  block(number, step.reported);
  Thread& blocked = threads_[number];
  if (step.kind != WaitKind::kDiskIo || disks_.empty()) {
    blocked.phase = Phase::kWaiting;
    schedule(whole_ns(drawn_ns + settings_.machine.timer_slack_us * 1e3), number);
    return false;
  }
  blocked.phase = Phase::kAtDisk;
  blocked.disk = static_cast<std::uint16_t>(disk_random_.below(disks_.size()));
  blocked.service_ns = drawn_ns;
  if (disks_[blocked.disk].enter(number)) schedule(whole_ns(drawn_ns), number);
  return false;
}

bool SimulatedPool::commit(std::uint32_t number) {
  if (settings_.machine.flush_us <= 0.0) {
    abandon(threads_[number].connection);
    return true;
  }
  block(number, settings_.machine.flush_reported);
  threads_[number].phase = Phase::kFlushing;
  next_flush_.push_back(number);
  if (!flushing_) flush();
  return false;
}

// One flush serves every commit that waits when it begins.
void SimulatedPool::flush() {
  flushing_ = !next_flush_.empty();
  if (!flushing_) return;
  committing_.swap(next_flush_);
  events_.push(now_ns_ + whole_ns(settings_.machine.flush_us * 1e3),
               event_of(EventIs::kFlushed, 0));
}

void SimulatedPool::flushed() {
  committed_.swap(committing_);
  committing_.clear();
  flush();
  for (const std::uint32_t number : committed_) wake(number);
  committed_.clear();
}

void SimulatedPool::finish(std::uint32_t number, bool ok) {
  Thread& thread = threads_[number];
  const std::uint32_t answered = thread.connection;
  Connection& connection = connections_[answered];
  if (!ok || !connection.in_transaction) abandon(answered);
  end_round(thread);
  timings_.record(Timing::kActiveRounds, static_cast<std::uint64_t>(thread.rounds));
  counters_.sampled_requests.add();
  counters_.voluntary_switches.add(thread.switches);
  counters_.involuntary_switches.add(involuntary_switches(number));
  connection.last_response_ns = now_ns_;
  const auto latency_ns = static_cast<double>(now_ns_ - connection.sent_ns);
  timings_.record(latency_of(connection.class_id), whole_us(latency_ns));
  (ok ? counters_.completed : counters_.failed).add();
  connection.thread = kNobody;
  thread.connection = kNobody;
  client_.answered(answered, now_ns_, events_, connections_);
  arm(answered);
  get_event(number);
}

std::int64_t SimulatedPool::involuntary_switches(std::uint32_t number) const {
  const Thread& thread = threads_[number];
  if (cpu_.is_sliced()) return cpu_.times_put_off(number) - thread.put_off_before;
  // Where processors are shared, a thread that waits for one counts as put off once a quantum.
  const double quantum_ns = settings_.machine.contention.quantum_us * 1e3;
  return static_cast<std::int64_t>(thread.run_delay_ns / quantum_ns);
}

void SimulatedPool::begin_round(Thread& thread) const {
  thread.round_begin_ns = now_ns_;
  thread.round_cpu_ns = 0.0;
  thread.round_off_ns = 0.0;
}

void SimulatedPool::end_burst(std::uint32_t number) {
  threads_[number].round_cpu_ns += cpu_.taken_ns(now_ns_, number);
}

void SimulatedPool::end_round(Thread& thread) {
  const auto wall_ns = static_cast<double>(now_ns_ - thread.round_begin_ns);
  const double delay_ns = std::max(wall_ns - thread.round_cpu_ns - thread.round_off_ns, 0.0);
  ++thread.rounds;
  thread.run_delay_ns += delay_ns;
  timings_.record(Timing::kActiveRound, whole_us(wall_ns));
  timings_.record(Timing::kRoundCpu, whole_us(thread.round_cpu_ns));
  timings_.record(Timing::kRunDelay, whole_us(delay_ns));
}

}  // namespace poolpilot::sim
