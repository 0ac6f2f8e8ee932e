#include "sim/latches.hpp"

#include <algorithm>

namespace poolpilot::sim {

// Its counter stands after it.
const ProgramStep& Latches::acquiring(const Thread& thread) const {
  return client_.program(connections_[thread.connection].class_id).steps[thread.step - 1U];
}

LatchTurn Latches::acquire(std::uint32_t number, const ProgramStep& step) {
  Thread& thread = engine_.thread(number);
  Connection& connection = connections_[thread.connection];
  const std::uint64_t offset = step.spread > 1 ? connection.random.below(step.spread) : 0;
  const auto chosen = static_cast<std::uint8_t>(step.latch + offset);
  thread.drawn[step.latch] = chosen;
  thread.latch = chosen;
  Latch& latch = latches_[chosen];
  if (latch.free_for(thread.connection)) {
    take(number);
    return LatchTurn::kTaken;
  }
  ++latch.waiters;
  thread.waiting_since_ns = engine_.now_ns();
  if (step.spin_ns <= 0.0) return LatchTurn::kMustSleep;
  spin(number, step.spin_ns);
  return LatchTurn::kSpins;
}

void Latches::spin(std::uint32_t number, double spin_ns) {
  latches_[engine_.thread(number).latch].spinners.push_back(number);
  engine_.spin(number, spin_ns);
}

// The latch is the thread's. A holder walks the list of those who wait, as a deadlock check does;
// the more of them there are, the further their cache lines have travelled.
void Latches::take(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  Latch& latch = latches_[thread.latch];
  const ProgramStep& step = acquiring(thread);
  latch.owner = thread.connection;
  connections_[thread.connection].held_latches |= std::uint64_t{1} << thread.latch;
  const Machine& machine = engine_.machine();
  const double growth = 1.0 + machine.waiter_growth * latch.waiters / machine.cpus;
  thread.owed_ns += engine_.in_pieces(step.waiter_cost_ns * latch.waiters * growth);
}

void Latches::end_wait(std::uint32_t number) {
  const Thread& thread = engine_.thread(number);
  --latches_[thread.latch].waiters;
  measures_.counters.latch_waits.add();
  const auto waited_ns = static_cast<double>(engine_.now_ns() - thread.waiting_since_ns);
  measures_.timings.record(Timing::kLatchWait, whole_us(waited_ns));
}

// The spin may have been cut short for a latch that came free while the thread had no processor.
LatchTurn Latches::spun(std::uint32_t number) {
  const Thread& thread = engine_.thread(number);
  Latch& latch = latches_[thread.latch];
  Latch::forget(latch.spinners, number);
  if (latch.free_for(thread.connection)) {
    end_wait(number);
    take(number);
    return LatchTurn::kTaken;
  }
  const double spin_ns = acquiring(thread).spin_ns;
  const auto spun_ns = static_cast<double>(engine_.now_ns() - thread.waiting_since_ns);
  if (!engine_.processors().is_sliced() || spun_ns >= spin_ns) return LatchTurn::kMustSleep;
  spin(number, spin_ns - spun_ns);
  return LatchTurn::kSpins;
}

void Latches::sleep_at_tail(std::uint32_t number) {
  latches_[engine_.thread(number).latch].sleep_at_tail(number);
  sleep(number);
}

void Latches::sleep_at_head(std::uint32_t number) {
  latches_[engine_.thread(number).latch].sleep_at_head(number);
  sleep(number);
}

// Until it is woken or its time is over.
void Latches::sleep(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  thread.phase = Phase::kSleeping;
  if (timeout_s_ <= 0.0) return;
  engine_.push_first(latches_[thread.latch].check_ns, deadline_ns(thread),
                     event_of(EventIs::kLatchCheck, thread.latch));
}

TimeNs Latches::deadline_ns(const Thread& thread) const {
  return thread.waiting_since_ns + whole_ns(timeout_s_ * 1e9);
}

// A woken sleeper that finds the latch taken sleeps again, unless it has waited for too long.
LatchTurn Latches::try_again(std::uint32_t number) {
  const Thread& thread = engine_.thread(number);
  const bool is_free = latches_[thread.latch].free_for(thread.connection);
  const bool too_late = timeout_s_ > 0.0 && engine_.now_ns() >= deadline_ns(thread);
  if (!is_free && !too_late) return LatchTurn::kMustSleep;
  end_wait(number);
  if (!is_free) return LatchTurn::kTooLate;
  take(number);
  return LatchTurn::kTaken;
}

// Who has slept for too long tries once more, and fails.
void Latches::expire_waits(std::uint32_t index) {
  Latch& latch = latches_[index];
  if (engine_.now_ns() != latch.check_ns) return;
  TimeNs next_ns = kNever;
  const std::vector<std::uint32_t> sleepers = latch.sleepers;
  for (const std::uint32_t number : sleepers) {
    const TimeNs until_ns = deadline_ns(engine_.thread(number));
    if (until_ns > engine_.now_ns()) {
      next_ns = std::min(next_ns, until_ns);
      continue;
    }
    Latch::forget(latch.sleepers, number);
    engine_.thread(number).phase = Phase::kLatch;
    engine_.wake(number);
  }
  latch.check_ns = kNever;
  engine_.push_first(latch.check_ns, next_ns, event_of(EventIs::kLatchCheck, index));
}

void Latches::release(std::uint32_t connection, std::uint8_t index) {
  Latch& latch = latches_[index];
  if (latch.owner != connection) return;
  connections_[connection].held_latches &= ~(std::uint64_t{1} << index);
  latch.owner = kNobody;
  hand_to_spinner(latch);
  // As in the live server the head is woken even so, to find it taken.
  if (latch.sleepers.empty()) return;
  const std::uint32_t woken = latch.wake_head();
  engine_.thread(woken).phase = Phase::kLatch;
  engine_.schedule(whole_ns(engine_.machine().wake_us * 1e3), woken);
}

void Latches::hand_to_spinner(Latch& latch) {
  for (const std::uint32_t spinner : latch.spinners) {
    if (!engine_.end_spin(spinner)) continue;
    Latch::forget(latch.spinners, spinner);
    end_wait(spinner);
    take(spinner);
    // Its program goes on in an event of its own, not inside that of the thread that released.
    return engine_.burst(spinner, 0.0);
  }
}

void Latches::release_all(std::uint32_t number) {
  const Connection& connection = connections_[number];
  for (std::uint8_t index = 0; connection.held_latches != 0 && index < kLatches; ++index) {
    if ((connection.held_latches >> index & 1U) != 0) release(number, index);
  }
}

// Follows who waits for whom.
bool Latches::waits_for_itself(std::uint32_t first) const {
  if (timeout_s_ > 0.0) return false;
  std::uint32_t number = first;
  for (std::size_t steps = 0; steps <= engine_.thread_count(); ++steps) {
    const std::uint32_t owner = latches_[engine_.thread(number).latch].owner;
    if (owner == kNobody) return false;
    number = connections_[owner].thread;
    if (number == first) return true;
    if (number == kNobody || !sleeps(number)) return false;
  }
  return false;
}

bool Latches::sleeps(std::uint32_t number) const {
  const auto& sleepers = latches_[engine_.thread(number).latch].sleepers;
  return std::find(sleepers.begin(), sleepers.end(), number) != sleepers.end();
}

std::string Latches::waits_text(std::size_t queued) const {
  std::string text;
  for (std::uint32_t i = 0; i < latches_.size(); ++i) {
    const Latch& latch = latches_[i];
    for (auto sleeper = latch.sleepers.rbegin(); sleeper != latch.sleepers.rend(); ++sleeper) {
      if (text.size() > 1000) return text + "and more.";
      text += "thread " + std::to_string(*sleeper) + " of connection " +
              std::to_string(engine_.thread(*sleeper).connection) + " waits for latch " +
              std::to_string(i);
      text += latch.owner == kNobody
                  ? ", which is free; "
                  : ", which connection " + std::to_string(latch.owner) + " holds; ";
    }
  }
  return text + std::to_string(queued) + " requests are queued.";
}

}  // namespace poolpilot::sim
