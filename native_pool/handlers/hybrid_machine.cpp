#include "handlers/hybrid_machine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace poolpilot {
namespace {

constexpr double kHysteresis = 2.0;
constexpr double kLimitsAtOnce = 10.0;
constexpr double kHardlyAny = 0.002;

}  // namespace

HybridCounters HybridMachine::counters_at(std::int64_t now_us) const {
  HybridCounters counters = counters_;
  counters.thread_us = threads_.integral_us(now_us);
  return counters;
}

HybridDecision HybridMachine::apply(const HybridEvent& event) {
  const int threads_before = state_.thread_count;
  HybridDecision decision = decide(event);
  threads_.add(state_.thread_count - threads_before, event.now_us);
  decision.gate = move_gate();
  assert(state_.waiting_count >= 0 && state_.owning_count >= 0 && state_.in_epoll() >= 0);
  assert(state_.waiting_count + state_.owning_count <= state_.thread_count);
  return decision;
}

HybridDecision HybridMachine::decide(const HybridEvent& event) {
  using Kind = HybridEventKind;
  switch (event.kind) {
    case Kind::kConnectionAdded:
      ++state_.connection_count;
      return {HybridSelf::kNone, create_if(below_minimum(), event)};
    case Kind::kConnectionLost:
      --state_.connection_count;
      return {};
    case Kind::kTaken:
      --state_.waiting_count;
      ++counters_.taken;
      return {HybridSelf::kNone, create_if(below_minimum(), event)};
    case Kind::kTurnOver:
      return turn_over(event);
    case Kind::kConnectionLeft:
      --state_.connection_count;
      ++state_.waiting_count;
      if (event.owns) --state_.owning_count;
      return {HybridSelf::kWait};
    case Kind::kWaitedInVain:
      return waited_in_vain(event);
    case Kind::kLockWaitBegin:
      ++state_.lock_waiting_count;
      return {HybridSelf::kNone, create_if(is_stuck(), event)};
    case Kind::kLockWaitEnd:
      --state_.lock_waiting_count;
      return {};
    case Kind::kTick: {
      if (event.turn_us > 0.0) state_.taken_at_once = taken_at_once(event);
      const bool forsaken = state_.in_epoll() > 0 && state_.waiting_count == 0;
      return {HybridSelf::kNone, create_if((forsaken && below_minimum()) || is_stuck(), event)};
    }
    case Kind::kCreateFailed:
      --state_.thread_count;
      --state_.waiting_count;
      --counters_.thread_creations;
      return {};
  }
  return {};
}

HybridDecision HybridMachine::turn_over(const HybridEvent& event) {
  if (state_.gate_open) {
    if (!event.owns) {
      ++state_.owning_count;
      ++counters_.to_own;
    }
    return {HybridSelf::kOwn};
  }
  ++state_.waiting_count;
  if (event.owns) {
    --state_.owning_count;
    ++counters_.to_epoll;
  }
  return {HybridSelf::kWait};
}

HybridDecision HybridMachine::waited_in_vain(const HybridEvent& event) {
  const bool unused = event.idle && state_.connection_count == 0;
  if (!has_excess() && !unused) return {HybridSelf::kWait};
  --state_.waiting_count;
  --state_.thread_count;
  return {HybridSelf::kExit};
}

// Beyond max_threads one stays as long as it is the only one that does not wait for a lock.
bool HybridMachine::has_excess() const {
  if (state_.waiting_count > (shares() ? enough() + 1 : settings_.min_waiting)) return true;
  return state_.thread_count > settings_.max_threads &&
         state_.thread_count - state_.lock_waiting_count > 1;
}

bool HybridMachine::below_minimum() const {
  return state_.waiting_count < (shares() ? 1 : settings_.min_waiting) &&
         state_.thread_count < settings_.max_threads;
}

// Every thread waits for a lock that somebody may hold who has no thread.
bool HybridMachine::is_stuck() const {
  return state_.lock_waiting_count > 0 && state_.lock_waiting_count == state_.thread_count;
}

int HybridMachine::taken_at_once(const HybridEvent& tick) const {
  const double slack = shares() ? kHysteresis : 1.0;
  const bool is_short = tick.turn_us < settings_.share_below_us * slack;
  if (!is_short || tick.slept_share > kHardlyAny * slack) return 1;
  const double fitting = kLimitsAtOnce * settings_.share_below_us / tick.turn_us;
  return static_cast<int>(std::clamp(fitting, 2.0, double{HybridState::kMostAtOnce}));
}

// A pool without any thread gets one whatever the others have.
bool HybridMachine::create_if(bool wanted, const HybridEvent& event) {
  if (!wanted || (event.pools_full && state_.thread_count > 0)) return false;
  ++state_.thread_count;
  ++state_.waiting_count;
  ++counters_.thread_creations;
  return true;
}

Gate HybridMachine::move_gate() {
  const bool forsaken = state_.in_epoll() > 0 && state_.waiting_count == 0;
  const bool shared = shares() && state_.connection_count > 1;
  const bool open = state_.connection_count <= settings_.max_threads && !forsaken && !shared;
  if (std::exchange(state_.gate_open, open) == open) return Gate::kStays;
  return open ? Gate::kOpens : Gate::kShuts;
}

}  // namespace poolpilot
