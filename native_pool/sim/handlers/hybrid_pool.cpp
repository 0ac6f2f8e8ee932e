#include "sim/handlers/hybrid_pool.hpp"

#include <algorithm>
#include <utility>

namespace poolpilot::sim {
namespace {

constexpr TimeNs kStallNs = 4'000'000;  // as in the live pool

}  // namespace

void HybridPool::admit(std::uint32_t number) {
  connections_[number].group = number_;
  apply(HybridEventKind::kConnectionAdded);
  if (connections_[number].fresh) return find(number);  // its first turn waits for nothing
  put(number);
}

void HybridPool::leave(std::uint32_t number, std::uint32_t thread) {
  const bool owns = places_.owned_by(thread) == number;
  end_serving(number, thread);
  if (owns) disown(number);
  count_turn(number, thread);
  apply(HybridEventKind::kConnectionLeft, owns);
}

void HybridPool::receive(std::uint32_t number) {
  HybridPlaces::OfConnection& place = places_.connections[number];
  if (std::exchange(place.in_epoll, false)) return find(number);
  places_.ask(place);
  if (std::exchange(place.owner_sleeps, false)) call(place.owner);
}

void HybridPool::end_turn(std::uint32_t number, std::uint32_t thread) {
  count_turn(number, thread);
  turn_over(number, thread);
}

// The turn of a thread is over, or the gate has called it.
void HybridPool::turn_over(std::uint32_t number, std::uint32_t thread) {
  const bool owns = places_.owned_by(thread) == number;
  end_serving(number, thread);
  if (apply(HybridEventKind::kTurnOver, owns).self == HybridSelf::kOwn) {
    if (!owns) own(number, thread);
    return;
  }
  if (owns) disown(number);
  put(number);
}

std::uint32_t HybridPool::resume(std::uint32_t thread) {
  const std::uint32_t owned = places_.owned_by(thread);
  if (owned != kNobody && !machine_.state().gate_open) turn_over(owned, thread);
  return next(thread);
}

std::uint32_t HybridPool::next(std::uint32_t thread) {
  const std::uint32_t owned = places_.owned_by(thread);
  if (owned == kNobody) {
    if (!ready_.empty() && !enough_serve()) return take();
    wait(thread);
    if (!ready_.empty()) watch_for_stall();
    return kNobody;
  }
  HybridPlaces::OfConnection& place = places_.connections[owned];
  if (places_.take_asked(place)) {
    connections_[owned].enqueued_ns = engine_.now_ns();
    return owned;
  }
  place.owner_sleeps = true;
  engine_.thread(thread).phase = Phase::kSleeping;
  return kNobody;
}

std::uint32_t HybridPool::take() {
  const std::uint32_t number = ready_.front();
  ready_.pop_front();
  connections_[number].enqueued_ns = engine_.now_ns();
  apply(HybridEventKind::kTaken);
  ++taken_;
  begin_serving(number);
  return number;
}

// Into the epoll, which may find it ready at once.
void HybridPool::put(std::uint32_t number) {
  HybridPlaces::OfConnection& place = places_.connections[number];
  if (places_.take_asked(place)) return find(number);
  place.in_epoll = true;
}

void HybridPool::find(std::uint32_t number) {
  ready_.push_back(number);
  if (enough_serve()) return watch_for_stall();
  call_waiting();
}

void HybridPool::call_waiting() {
  if (waiting_.empty()) return;
  const std::uint32_t woken = waiting_.back().thread;
  waiting_.pop_back();
  call(woken);
}

void HybridPool::begin_serving(std::uint32_t number) {
  places_.connections[number].served_in = era_;
  ++serving_;
}

void HybridPool::end_serving(std::uint32_t number, std::uint32_t thread) {
  const bool taken = places_.owned_by(thread) != number;
  if (taken && places_.connections[number].served_in == era_) --serving_;
}

void HybridPool::watch_for_stall() {
  if (std::exchange(watched_for_stall_, true)) return;
  taken_when_watched_ = taken_;
  engine_.events().push(engine_.now_ns() + kStallNs, event_of(EventIs::kStallCheck, number_));
}

// Those who serve sleep where none of them has come for another one.
void HybridPool::check_stall() {
  watched_for_stall_ = false;
  if (ready_.empty()) return;
  if (enough_serve()) {
    if (taken_ != taken_when_watched_) return watch_for_stall();
    ++era_;
    serving_ = 0;
  }
  for (std::size_t i = std::min(ready_.size(), waiting_.size()); i > 0; --i) call_waiting();
}

void HybridPool::wait(std::uint32_t thread) {
  engine_.thread(thread).phase = Phase::kSleeping;
  waiting_.push_back(waiter(thread));
  check_idle_at(waiting_.back().until_ns);
}

HybridPool::Waiter HybridPool::waiter(std::uint32_t thread) const {
  const bool excess = machine_.has_excess();
  const double time_ns = excess ? settings_.keep_excess_ms * 1e6 : idle_timeout_s_ * 1e9;
  return {thread, engine_.now_ns() + static_cast<TimeNs>(time_ns), !excess};
}

void HybridPool::expire_sleepers() {
  --idle_checks_;
  if (engine_.now_ns() != idle_check_ns_) return;
  TimeNs next_ns = kNever;
  std::size_t kept = 0;
  for (Waiter one : waiting_) {
    if (one.until_ns <= engine_.now_ns()) {
      if (apply(HybridEventKind::kWaitedInVain, false, one.idle).self == HybridSelf::kExit) {
        engine_.end_thread(one.thread);
        continue;
      }
      one = waiter(one.thread);
    }
    next_ns = std::min(next_ns, one.until_ns);
    waiting_[kept++] = one;
  }
  waiting_.resize(kept);
  idle_check_ns_ = kNever;
  if (next_ns != kNever) check_idle_at(next_ns);
}

void HybridPool::check_idle_at(TimeNs time_ns) {
  const std::uint32_t event = event_of(EventIs::kIdleCheck, number_);
  if (engine_.push_first(idle_check_ns_, time_ns, event)) ++idle_checks_;
}

void HybridPool::own(std::uint32_t number, std::uint32_t thread) {
  places_.owned_by(thread) = number;
  places_.connections[number].owner = thread;
  owned_.push_back(number);
}

void HybridPool::disown(std::uint32_t number) {
  HybridPlaces::OfConnection& place = places_.connections[number];
  places_.owned_by(place.owner) = kNobody;
  place.owner = kNobody;
  std::erase(owned_, number);
}

void HybridPool::call(std::uint32_t thread) {
  engine_.thread(thread).phase = Phase::kWorker;
  engine_.schedule(static_cast<TimeNs>(engine_.machine().wake_us * 1e3), thread);
}

void HybridPool::call_owners() {
  for (const std::uint32_t number : owned_) {
    HybridPlaces::OfConnection& place = places_.connections[number];
    if (std::exchange(place.owner_sleeps, false)) call(place.owner);
  }
}

// Without the time for which the thread was ready and others had the processor, as the live pool.
void HybridPool::count_turn(std::uint32_t number, std::uint32_t thread) {
  const auto delay_ns = static_cast<TimeNs>(engine_.thread(thread).run_delay_ns);
  ++turns_;
  if (engine_.thread(thread).switches > 0) ++slept_;
  turn_ns_ += std::max<TimeNs>(engine_.now_ns() - connections_[number].enqueued_ns - delay_ns, 0);
}

void HybridPool::tick() {
  HybridEvent tick{HybridEventKind::kTick, engine_.now_us()};
  tick.pools_full = engine_.is_full();
  const std::int64_t turns = std::exchange(turns_, 0);
  const auto lasted_ns = static_cast<double>(std::exchange(turn_ns_, 0));
  const auto slept = static_cast<double>(std::max<std::int64_t>(std::exchange(slept_, 0) - 1, 0));
  if (turns > 0) {
    tick.turn_us = lasted_ns / 1e3 / static_cast<double>(turns);
    tick.slept_share = slept / static_cast<double>(turns);
  }
  apply(tick);
}

HybridDecision HybridPool::apply(HybridEventKind kind, bool owns, bool idle) {
  return apply({kind, engine_.now_us(), owns, idle, engine_.is_full()});
}

HybridDecision HybridPool::apply(const HybridEvent& event) {
  const HybridDecision decision = machine_.apply(event);
  if (decision.create) engine_.start_thread(number_);
  if (decision.gate == Gate::kShuts) call_owners();
  return decision;
}

}  // namespace poolpilot::sim
