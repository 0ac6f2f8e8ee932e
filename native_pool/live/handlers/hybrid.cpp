#include "live/handlers/hybrid.hpp"

#include <cstddef>
#include <span>

#include "live/handlers/hybrid_thread.hpp"
#include "system/clock.hpp"
#include "system/processors.hpp"

namespace poolpilot {

Hybrid::Hybrid(const LivePoolSettings& settings, HandlerHost& host, ThreadRegistry& registry)
    : settings_(settings),
      host_(host),
      registry_(registry),
      processors_(processors(settings.cpus)),
      idle_timeout_s_(settings.tuple.idle_timeout_s),
      timer_interval_ms_(settings.tuple.timer_interval_ms),
      max_threads_(settings.knobs.max_threads),
      timer_(settings.cpus, [this] { tick(); }) {
  HybridHost& pool_host = *this;
  for (int i = 0; i < settings_.max_pool_size; ++i) {
    pools_.push_back(std::make_unique<HybridPool>(pool_host, settings_.handling.hybrid));
  }
}

void Hybrid::start() {
  open_pools(settings_.tuple.pool_size);
  timer_.start(settings_.tuple.timer_interval_ms);
}

void Hybrid::configure(const PoolTuple& tuple, const PoolKnobs& knobs) {
  open_pools(tuple.pool_size);
  max_threads_.store(knobs.max_threads, std::memory_order_relaxed);
  idle_timeout_s_.store(tuple.idle_timeout_s, std::memory_order_relaxed);
  timer_interval_ms_.store(tuple.timer_interval_ms, std::memory_order_relaxed);
  timer_.set_interval(tuple.timer_interval_ms);
}

// First what the system may refuse: all pools change, or none.
void Hybrid::open_pools(int count) {
  const std::span in_use = std::span(pools_).first(static_cast<std::size_t>(count));
  for (const auto& pool : in_use) pool->open();
  for (const auto& pool : in_use) pool->set_processors((processors_ + count - 1) / count);
  pool_count_.store(count, std::memory_order_release);
}

bool Hybrid::welcome(Connection& connection) { return pool_of(connection).admit(connection); }

// Every connection of ours that has a turn has a thread of ours for its home.
bool Hybrid::rearm(Connection& connection) {
  return static_cast<HybridThread*>(connection.home)->rearm(connection);
}

void Hybrid::stop() {
  timer_.stop();
  for (auto& pool : pools_) pool->stop();
}

void Hybrid::add_counts(PoolSnapshot& snapshot, const WorkerTotals& workers) const {
  GroupCounters counters;
  GroupState state;
  std::int64_t to_own = 0;
  std::int64_t to_epoll = 0;
  for (const auto& pool : pools_) {
    const HybridCounters counted = pool->counters();
    counters.thread_creations += counted.thread_creations;
    counters.dequeues_worker += counted.taken;
    counters.polls_worker += pool->polls();
    counters.thread_us += counted.thread_us;
    to_own += counted.to_own;
    to_epoll += counted.to_epoll;
    state.thread_count += pool->state().thread_count;
  }
  counters.active_thread_us = workers.active_ns / 1'000;
  state.active_count = workers.active_threads;
  put_group_counts(snapshot, counters, state);
  put_hand_overs(snapshot, to_own, to_epoll);
}

bool Hybrid::start_thread(HybridPool& pool) {
  return registry_.start([this, &pool](WorkerStats& stats) {
    HybridThread(settings_, host_, stats, *this, pool).run();
  });
}

bool Hybrid::pools_full() const {
  return registry_.running() >= max_threads_.load(std::memory_order_relaxed);
}

HybridPool& Hybrid::pool_of(const Connection& connection) const {
  const auto count = static_cast<std::uint64_t>(pool_count_.load(std::memory_order_acquire));
  return *pools_[connection.id % count];
}

double Hybrid::idle_timeout_s() const { return idle_timeout_s_.load(std::memory_order_relaxed); }

std::int64_t Hybrid::silence_us() const {
  const std::int64_t interval_ms = timer_interval_ms_.load(std::memory_order_relaxed);
  return interval_ms * 1'000 + static_cast<std::int64_t>(settings_.wait_timeout_s * 1e6);
}

void Hybrid::tick() {
  const std::int64_t now_us = now_ns() / 1'000;
  for (auto& pool : pools_) pool->tick(now_us);
}

}  // namespace poolpilot
