#include "live/handlers/hybrid_pool.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <system_error>
#include <utility>

#include "system/clock.hpp"

namespace poolpilot {
namespace {

// Many short turns. Where nothing was taken for so long, those who serve sleep.
constexpr std::chrono::milliseconds kStall{4};
constexpr std::int64_t kStallUs = std::chrono::microseconds(kStall).count();

}  // namespace

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

void HybridPool::set_processors(int number) {
  const std::lock_guard lock(mutex_);
  machine_.set_processors(number);
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
  if (!owns) end_serving(connection);
  apply(HybridEventKind::kConnectionLeft, owns);
}

HybridSelf HybridPool::turn_over(Connection& connection, bool owns) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return HybridSelf::kWait;
  if (!owns) end_serving(connection);
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
    if (enough_serve_.load(std::memory_order_relaxed) && !stand_by()) return nullptr;
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

// False when the thread ends.
bool HybridPool::stand_by() {
  using Clock = std::chrono::steady_clock;
  const auto excess_at = Clock::now() + std::chrono::milliseconds(settings_.keep_excess_ms);
  std::unique_lock lock(mutex_);
  while (!stopping_ && enough_serve()) {
    const std::int64_t taken = taken_;
    const bool in_vain = called_.wait_for(lock, kStall) == std::cv_status::timeout;
    if (in_vain && taken == taken_) end_era();
    const bool excess = machine_.has_excess() && Clock::now() >= excess_at;
    if (excess && apply(HybridEventKind::kWaitedInVain).self == HybridSelf::kExit) return false;
  }
  return !stopping_;
}

void HybridPool::end_era() {
  ++era_;
  serving_ = 0;
  enough_serve_.store(false, std::memory_order_relaxed);
  called_.notify_all();
}

bool HybridPool::enough_serve() const { return machine_.enough_serve(serving_); }

void HybridPool::begin_serving(Connection& connection) {
  connection.served_in = era_;
  ++serving_;
  enough_serve_.store(enough_serve(), std::memory_order_relaxed);
}

void HybridPool::end_serving(const Connection& connection) {
  if (connection.served_in == era_) --serving_;
  enough_serve_.store(enough_serve(), std::memory_order_relaxed);
}

Connection* HybridPool::take_found(std::uint32_t& events) {
  has_found_.store(found_.size() > 1, std::memory_order_relaxed);
  if (found_.empty()) return nullptr;
  taken_us_ = now_ns() / 1'000;
  apply({HybridEventKind::kTaken, taken_us_, false, false, host_.pools_full()});
  events = found_.back().events;
  auto* const connection = static_cast<Connection*>(found_.back().data.ptr);
  found_.pop_back();
  ++taken_;
  begin_serving(*connection);
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

void HybridPool::add_turn(const MeteredTurn& turn) {
  turns_.fetch_add(1, std::memory_order_relaxed);
  turn_ns_.fetch_add(turn.took_ns, std::memory_order_relaxed);
  if (turn.slept) slept_.fetch_add(1, std::memory_order_relaxed);
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
  if (now_us - taken_us_ >= kStallUs) put_back_found();
  HybridEvent tick{HybridEventKind::kTick, now_us};
  tick.pools_full = host_.pools_full();
  add_turns_since_last_tick(tick);
  apply(tick);
  connections_.tick(now_us);
}

void HybridPool::add_turns_since_last_tick(HybridEvent& tick) {
  const auto since = [](const std::atomic<std::int64_t>& sum, std::int64_t& ticked) {
    const std::int64_t now = sum.load(std::memory_order_relaxed);
    return static_cast<double>(now - std::exchange(ticked, now));
  };
  const double turns = since(turns_, ticked_turns_);
  const double lasted_ns = since(turn_ns_, ticked_turn_ns_);
  const double slept = std::max(since(slept_, ticked_slept_) - 1.0, 0.0);  // one met a lock of ours
  if (turns <= 0.0) return;
  tick.turn_us = lasted_ns / 1e3 / turns;
  tick.slept_share = slept / turns;
}

void HybridPool::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  gate_open_.store(false, std::memory_order_relaxed);
  poll_.interrupt();
  called_.notify_all();
  if (gate_.valid()) eventfd_write(gate_.get(), 1);
}

HybridDecision HybridPool::apply(HybridEventKind kind, bool owns, bool idle) {
  return apply({kind, now_ns() / 1'000, owns, idle, host_.pools_full()});
}

HybridDecision HybridPool::apply(const HybridEvent& event) {
  const HybridDecision decision = machine_.apply(event);
  taken_at_once_.store(machine_.state().taken_at_once, std::memory_order_relaxed);
  excess_.store(machine_.has_excess(), std::memory_order_relaxed);
  enough_serve_.store(enough_serve(), std::memory_order_relaxed);
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
