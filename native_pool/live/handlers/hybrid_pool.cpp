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
  if (apply(HybridEventKind::kTurnOver, owns).self == HybridSelf::kOwn) return HybridSelf::kOwn;
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
    const Waiting waiting = next_wait();
    std::array<epoll_event, 1> found{};
    const std::span<const epoll_event> ready = poll_.wait(found, waiting.timeout_ms);
    const std::lock_guard lock(mutex_);
    if (stopping_) return nullptr;
    if (ready.empty()) {
      const HybridDecision decision = apply(HybridEventKind::kWaitedInVain, false, waiting.idle);
      if (decision.self == HybridSelf::kExit) return nullptr;
    } else if (ready[0].data.ptr != nullptr) {
      apply(HybridEventKind::kTaken);
      auto* connection = static_cast<Connection*>(ready[0].data.ptr);
      SilentConnections::disarm(*connection);
      events = ready[0].events;
      return connection;
    }
  }
}

HybridPool::Waiting HybridPool::next_wait() const {
  if (excess_.load(std::memory_order_relaxed)) return {settings_.keep_excess_ms, false};
  return {static_cast<int>(host_.idle_timeout_s() * 1e3), true};
}

bool HybridPool::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void HybridPool::lock_wait_begin() {
  const std::lock_guard lock(mutex_);
  apply(HybridEventKind::kLockWaitBegin);
}

void HybridPool::lock_wait_end() {
  const std::lock_guard lock(mutex_);
  apply(HybridEventKind::kLockWaitEnd);
}

void HybridPool::tick(std::int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  apply(HybridEventKind::kTick);
  connections_.tick(now_us);
}

void HybridPool::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  gate_open_.store(false, std::memory_order_relaxed);
  poll_.interrupt();
  if (gate_.valid()) eventfd_write(gate_.get(), 1);
}

HybridDecision HybridPool::apply(HybridEventKind kind, bool owns, bool idle) {
  const HybridDecision decision =
      machine_.apply({kind, now_ns() / 1'000, owns, idle, host_.pools_full()});
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

}  // namespace poolpilot
