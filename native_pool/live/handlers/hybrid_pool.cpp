#include "live/handlers/hybrid_pool.hpp"

#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "system/clock.hpp"

namespace poolpilot {

void HybridPool::open() {
  const std::lock_guard lock(mutex_);
  if (poll_.is_open()) return;
  Descriptor gate(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!gate.valid()) {
    throw std::system_error(errno, std::generic_category(), "cannot create the gate of a pool");
  }
  poll_.open();
  found_.reserve(std::size_t{2} * HybridState::kMostAtOnce);
  gate_ = std::move(gate);
  connections_.tick(now_ns() / 1'000);  // the timer begins now
}

bool HybridPool::admit(Connection& connection) {
  const std::lock_guard lock(mutex_);
  connections_.add(connection);
  apply(HybridEventKind::kConnectionAdded);
  return watch(connection);
}

void HybridPool::leave(Connection& connection, bool owns) {
  const std::lock_guard lock(mutex_);
  connections_.remove(connection);
  apply(HybridEventKind::kConnectionLeft, owns);
}

HybridSelf HybridPool::turn_over(Connection& connection, bool owns) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return HybridSelf::kWait;
  if (apply(HybridEventKind::kTurnOver, owns).self == HybridSelf::kOwn) {
    put_back_found();
    return HybridSelf::kOwn;
  }
  return watch(connection) ? HybridSelf::kWait : HybridSelf::kNone;
}

bool HybridPool::watch(Connection& connection) {
  if (poll_.watch(connection)) {
    connections_.arm(connection, host_.silence_us());
    return true;
  }
  connections_.remove(connection);
  apply(HybridEventKind::kConnectionLost);
  return false;
}

Connection* HybridPool::take(std::uint32_t& events) {
  while (true) {
    if (has_found_.load(std::memory_order_relaxed)) {
      const std::lock_guard lock(mutex_);
      if (stopping_) return nullptr;
      if (Connection* const connection = take_found(events)) return connection;
    }
    const Waiting waiting = next_wait();
    std::array<epoll_event, HybridState::kMostAtOnce> room{};
    const auto wanted = static_cast<std::size_t>(taken_at_once_.load(std::memory_order_relaxed));
    const std::span<const epoll_event> ready =
        poll_.wait(std::span(room).first(wanted), waiting.timeout_ms);
    const std::lock_guard lock(mutex_);
    if (stopping_) return nullptr;  // as after the stop event, the one that has no connection
    for (const epoll_event& event : ready) {
      SilentConnections::disarm(*static_cast<Connection*>(event.data.ptr));
    }
    polls_ += ready.empty() ? 0 : 1;
    found_.insert(found_.begin(), ready.rbegin(), ready.rend());
    if (Connection* const connection = take_found(events)) return connection;
    const HybridDecision decision = apply(HybridEventKind::kWaitedInVain, false, waiting.idle);
    if (decision.self == HybridSelf::kExit) return nullptr;
  }
}

Connection* HybridPool::take_found(std::uint32_t& events) {
  has_found_.store(found_.size() > 1, std::memory_order_relaxed);
  if (found_.empty()) return nullptr;
  apply(HybridEventKind::kTaken);
  events = found_.back().events;
  auto* const connection = static_cast<Connection*>(found_.back().data.ptr);
  found_.pop_back();
  found_touched_ = true;
  return connection;
}

void HybridPool::put_back_found() {
  std::erase_if(found_, [this](const epoll_event& event) {
    auto& connection = *static_cast<Connection*>(event.data.ptr);
    if (!poll_.watch(connection)) return false;
    connections_.arm(connection, host_.silence_us());
    return true;
  });
  has_found_.store(!found_.empty(), std::memory_order_relaxed);
}

void HybridPool::add_turn(std::int64_t turn_ns) {
  turns_.fetch_add(1, std::memory_order_relaxed);
  turn_ns_.fetch_add(turn_ns, std::memory_order_relaxed);
}

HybridPool::Waiting HybridPool::next_wait() const {
  if (excess_.load(std::memory_order_relaxed)) return {settings_.keep_excess_ms, false};
  return {static_cast<int>(host_.idle_timeout_s() * 1e3), true};
}

bool HybridPool::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void HybridPool::wait_begin(bool for_lock) {
  if (!for_lock && !has_found_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  put_back_found();
  if (for_lock) apply(HybridEventKind::kLockWaitBegin);
}

void HybridPool::lock_wait_end() {
  const std::lock_guard lock(mutex_);
  apply(HybridEventKind::kLockWaitEnd);
}

void HybridPool::tick(std::int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (!std::exchange(found_touched_, false)) put_back_found();
  HybridEvent tick{HybridEventKind::kTick, now_us};
  tick.pools_full = host_.pools_full();
  tick.turn_us = turn_us_since_last_tick();
  apply(tick);
  connections_.tick(now_us);
}

double HybridPool::turn_us_since_last_tick() {
  const std::int64_t turns = turns_.load(std::memory_order_relaxed);
  const std::int64_t turn_ns = turn_ns_.load(std::memory_order_relaxed);
  const std::int64_t counted = turns - std::exchange(ticked_turns_, turns);
  const std::int64_t lasted_ns = turn_ns - std::exchange(ticked_turn_ns_, turn_ns);
  return counted > 0 ? static_cast<double>(lasted_ns) / 1e3 / static_cast<double>(counted) : 0.0;
}

void HybridPool::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  gate_open_.store(false, std::memory_order_relaxed);
  poll_.interrupt();
  if (gate_.valid()) eventfd_write(gate_.get(), 1);
}

HybridDecision HybridPool::apply(HybridEventKind kind, bool owns, bool idle) {
  return apply({kind, now_ns() / 1'000, owns, idle, host_.pools_full()});
}

HybridDecision HybridPool::apply(const HybridEvent& event) {
  const HybridDecision decision = machine_.apply(event);
  taken_at_once_.store(machine_.state().taken_at_once, std::memory_order_relaxed);
  excess_.store(machine_.has_excess(), std::memory_order_relaxed);
  if (!stopping_) move(decision.gate);
  if (decision.create && (stopping_ || !host_.start_thread(*this))) {
    apply(HybridEventKind::kCreateFailed);
  }
  return decision;
}

void HybridPool::move(Gate gate) {
  if (gate == Gate::kStays) return;
  gate_open_.store(gate == Gate::kOpens, std::memory_order_relaxed);
  if (gate == Gate::kShuts) {
    eventfd_write(gate_.get(), 1);
  } else {
    eventfd_t cleared = 0;
    eventfd_read(gate_.get(), &cleared);
  }
}

HybridState HybridPool::state() const {
  const std::lock_guard lock(mutex_);
  return machine_.state();
}

HybridCounters HybridPool::counters() const {
  const std::lock_guard lock(mutex_);
  return machine_.counters_at(now_ns() / 1'000);
}

std::int64_t HybridPool::polls() const {
  const std::lock_guard lock(mutex_);
  return polls_;
}

}  // namespace poolpilot
