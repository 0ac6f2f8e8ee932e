#include <algorithm>

#include "sim/pool.hpp"

namespace poolpilot::sim {

bool SimulatedPool::acquire(std::uint32_t number, const ProgramStep& step) {
  Thread& thread = threads_[number];
  Connection& connection = connections_[thread.connection];
  const std::uint64_t offset = step.spread > 1 ? connection.random.below(step.spread) : 0;
  const auto chosen = static_cast<std::uint8_t>(step.latch + offset);
  thread.drawn[step.latch] = chosen;
  thread.latch = chosen;
  Latch& latch = latches_[chosen];
  if (latch.free_for(thread.connection)) {
    take_latch(number);
    return true;
  }
  ++latch.waiters;
  thread.waiting_since_ns = now_ns_;
  if (step.spin_ns > 0.0) {
    spin(number, step.spin_ns);
  } else {
    sleep_at_tail(number);
  }
  return false;
}

void SimulatedPool::spin(std::uint32_t number, double spin_ns) {
  Thread& thread = threads_[number];
  latches_[thread.latch].spinners.push_back(number);
  thread.phase = Phase::kSpinning;
  cpu_.spin(now_ns_, number, spin_ns);
}

// The latch is the thread's. A holder walks the list of those who wait, as a deadlock check does;
// the more of them there are, the further their cache lines have travelled.
void SimulatedPool::take_latch(std::uint32_t number) {
  Thread& thread = threads_[number];
  Latch& latch = latches_[thread.latch];
  const ProgramStep& step = step_under_way(thread);
  latch.owner = thread.connection;
  connections_[thread.connection].held_latches |= std::uint64_t{1} << thread.latch;
  const Machine& machine = settings_.machine;
  const double growth = 1.0 + machine.waiter_growth * latch.waiters / machine.cpus;
  thread.owed_ns += in_pieces(step.waiter_cost_ns * latch.waiters * growth);
}

void SimulatedPool::end_latch_wait(std::uint32_t number) {
  const Thread& thread = threads_[number];
  --latches_[thread.latch].waiters;
  counters_.latch_waits.add();
  timings_.record(Timing::kLatchWait,
                  whole_us(static_cast<double>(now_ns_ - thread.waiting_since_ns)));
}

// The spin is over. It may have been cut short for a latch that came free while the thread had no
// processor.
void SimulatedPool::spun(std::uint32_t number) {
  const Thread& thread = threads_[number];
  Latch& latch = latches_[thread.latch];
  Latch::forget(latch.spinners, number);
  if (latch.free_for(thread.connection)) {
    end_latch_wait(number);
    take_latch(number);
    return go_on(number);
  }
  const double spin_ns = step_under_way(thread).spin_ns;
  const auto spun_ns = static_cast<double>(now_ns_ - thread.waiting_since_ns);
  if (cpu_.is_sliced() && spun_ns < spin_ns) return spin(number, spin_ns - spun_ns);
  sleep_at_tail(number);
}

void SimulatedPool::sleep_at_tail(std::uint32_t number) {
  const ProgramStep& step = step_under_way(threads_[number]);
  Latch& latch = latches_[threads_[number].latch];
  if (step.reported) counters_.waits[static_cast<std::size_t>(WaitKind::kRowLock)].add();
  block(number, step.reported);
  latch.sleep_at_tail(number);
  sleep_for_latch(number);
}

// A thread sleeps for its latch until it is woken or its time is over; without a time-out it says
// when nobody can wake it.
void SimulatedPool::sleep_for_latch(std::uint32_t number) {
  Thread& thread = threads_[number];
  thread.phase = Phase::kSleeping;
  if (settings_.latch_timeout_s <= 0.0) return check_cycle(number);
  push_first(latches_[thread.latch].check_ns, latch_deadline_ns(thread),
             event_of(EventIs::kLatchCheck, thread.latch));
}

TimeNs SimulatedPool::latch_deadline_ns(const Thread& thread) const {
  return thread.waiting_since_ns + whole_ns(settings_.latch_timeout_s * 1e9);
}

// A woken sleeper that finds the latch taken goes to the head, unless it has waited for too long.
void SimulatedPool::try_again(std::uint32_t number) {
  const Thread& thread = threads_[number];
  Latch& latch = latches_[thread.latch];
  const bool is_free = latch.free_for(thread.connection);
  const bool too_late = settings_.latch_timeout_s > 0.0 && now_ns_ >= latch_deadline_ns(thread);
  if (!is_free && !too_late) {
    latch.sleep_at_head(number);
    return sleep_for_latch(number);
  }
  end_latch_wait(number);
  if (is_free) take_latch(number);
  unblock(number);
  if (is_free) return go_on(number);
  finish(number, false);
}

// Who has slept for too long tries once more, and fails.
void SimulatedPool::expire_latch_waits(std::uint32_t index) {
  Latch& latch = latches_[index];
  if (now_ns_ != latch.check_ns) return;
  TimeNs next_ns = kNever;
  const std::vector<std::uint32_t> sleepers = latch.sleepers;
  for (const std::uint32_t number : sleepers) {
    const TimeNs deadline_ns = latch_deadline_ns(threads_[number]);
    if (deadline_ns > now_ns_) {
      next_ns = std::min(next_ns, deadline_ns);
      continue;
    }
    Latch::forget(latch.sleepers, number);
    threads_[number].phase = Phase::kLatch;
    wake(number);
  }
  latch.check_ns = kNever;
  push_first(latch.check_ns, next_ns, event_of(EventIs::kLatchCheck, index));
}

void SimulatedPool::release(std::uint32_t connection, std::uint8_t index) {
  Latch& latch = latches_[index];
  if (latch.owner != connection) return;
  connections_[connection].held_latches &= ~(std::uint64_t{1} << index);
  latch.owner = kNobody;
  hand_to_spinner(latch);
  // As in the live server the head is woken even so, to find it taken.
  if (latch.sleepers.empty()) return;
  const std::uint32_t woken = latch.wake_head();
  threads_[woken].phase = Phase::kLatch;
  schedule(whole_ns(settings_.machine.wake_us * 1e3), woken);
}

void SimulatedPool::hand_to_spinner(Latch& latch) {
  for (const std::uint32_t spinner : latch.spinners) {
    if (!cpu_.on_processor(spinner)) {
      cpu_.hurry(now_ns_, spinner);
      continue;
    }
    cpu_.cancel(now_ns_, spinner);
    end_burst(spinner);
    Latch::forget(latch.spinners, spinner);
    end_latch_wait(spinner);
    take_latch(spinner);
    // Its program goes on in an event of its own, not inside that of the thread that released.
    return burst(spinner, 0.0);
  }
}

void SimulatedPool::abandon(std::uint32_t number) {
  Connection& connection = connections_[number];
  connection.in_transaction = false;
  for (std::uint8_t index = 0; connection.held_latches != 0 && index < kLatches; ++index) {
    if ((connection.held_latches >> index & 1U) != 0) release(number, index);
  }
}

// Follows who waits for whom from a thread that has just gone to sleep for a latch.
void SimulatedPool::check_cycle(std::uint32_t first) const {
  std::uint32_t number = first;
  for (std::size_t steps = 0; steps <= threads_.size(); ++steps) {
    const Thread& thread = threads_[number];
    const std::uint32_t owner = latches_[thread.latch].owner;
    if (owner == kNobody) return;
    const std::uint32_t holder = connections_[owner].thread;
    if (holder == first) throw Deadlock("Threads wait for each other: " + waits_text());
    if (holder == kNobody || !sleeps_for_latch(holder)) return;
    number = holder;
  }
}

bool SimulatedPool::sleeps_for_latch(std::uint32_t number) const {
  const auto& sleepers = latches_[threads_[number].latch].sleepers;
  return std::find(sleepers.begin(), sleepers.end(), number) != sleepers.end();
}

std::string SimulatedPool::waits_text() const {
  std::string text;
  for (std::uint32_t i = 0; i < latches_.size(); ++i) {
    const Latch& latch = latches_[i];
    for (auto sleeper = latch.sleepers.rbegin(); sleeper != latch.sleepers.rend(); ++sleeper) {
      if (text.size() > 1000) return text + "and more.";
      text += "thread " + std::to_string(*sleeper) + " of connection " +
              std::to_string(threads_[*sleeper].connection) + " waits for latch " +
              std::to_string(i);
      text += latch.owner == kNobody
                  ? ", which is free; "
                  : ", which connection " + std::to_string(latch.owner) + " holds; ";
    }
  }
  std::size_t queued = 0;
  for (const Group& group : groups_) queued += group.queue.size() + group.ready.size();
  return text + std::to_string(queued) + " requests are queued.";
}

}  // namespace poolpilot::sim
