#include "live/pool_of_threads.hpp"

#include <cstddef>

#include "system/clock.hpp"

namespace poolpilot {

PoolOfThreads::PoolOfThreads(const LivePoolSettings& settings, HandlerHost& host,
                             ThreadRegistry& registry, std::vector<EventLog>& logs)
    : settings_(settings),
      host_(host),
      registry_(registry),
      idle_timeout_s_(settings.tuple.idle_timeout_s),
      max_threads_(settings.knobs.max_threads),
      timer_(settings.cpus, [this] { tick(); }) {
  const auto capacity = static_cast<std::size_t>(settings_.max_pool_size);
  groups_.reserve(capacity);
  logs.resize(settings_.record_events ? capacity : 0);
  GroupHost& group_host = *this;
  for (std::size_t i = 0; i < capacity; ++i) {
    groups_.push_back(std::make_unique<Group>(group_host, settings_.queues, i));
    groups_.back()->configure(settings_.tuple, settings_.knobs);
    if (settings_.record_events) groups_.back()->record(&logs[i]);
  }
}

void PoolOfThreads::start() {
  open_groups(settings_.tuple.pool_size);
  group_count_.store(settings_.tuple.pool_size, std::memory_order_release);
  timer_.start(settings_.tuple.timer_interval_ms);
}

void PoolOfThreads::configure(const PoolTuple& tuple, const PoolKnobs& knobs) {
  open_groups(tuple.pool_size);
  for (auto& group : groups_) {
    group->configure(tuple, knobs);
  }
  max_threads_.store(knobs.max_threads, std::memory_order_relaxed);
  group_count_.store(tuple.pool_size, std::memory_order_release);
  idle_timeout_s_.store(tuple.idle_timeout_s, std::memory_order_relaxed);
  timer_.set_interval(tuple.timer_interval_ms);
}

// Without a thread it waits for one: the timer asks the system again.
bool PoolOfThreads::welcome(Connection& connection) {
  group_of(connection).welcome(connection);
  return true;
}

bool PoolOfThreads::rearm(Connection& connection) {
  Group& target = group_of(connection);
  if (connection.home == &target) return target.arm(connection);
  connection.home->remove(connection);
  return target.adopt(connection);
}

void PoolOfThreads::stop() {
  timer_.stop();
  for (auto& group : groups_) group->stop();
}

void PoolOfThreads::add_counts(PoolSnapshot& snapshot, const WorkerTotals&) const {
  GroupCounters counters;
  GroupState state;
  std::int64_t unmapped_requests = 0;
  for (const auto& group : groups_) {
    add(counters, group->counters());
    add(state, group->state());
    unmapped_requests += group->unmapped_requests();
  }
  put_group_counts(snapshot, counters, state);
  snapshot.counters["unmapped_requests"] = static_cast<double>(unmapped_requests);
}

bool PoolOfThreads::start_worker(Group& group) {
  return registry_.start([&group](WorkerStats& stats) { group.work(stats); });
}

bool PoolOfThreads::pool_full() const {
  return registry_.running() >= max_threads_.load(std::memory_order_relaxed);
}

void PoolOfThreads::serve(Connection& connection, WorkerStats& stats) {
  host_.serve(connection, stats);
}

bool PoolOfThreads::hangs_up_at_once() const { return settings_.hang_up_at_once; }

void PoolOfThreads::hang_up(Connection& connection) { host_.end(connection, Ending::kHungUp); }

double PoolOfThreads::idle_timeout_s() const {
  return idle_timeout_s_.load(std::memory_order_relaxed);
}

std::int64_t PoolOfThreads::wait_timeout_us() const {
  return static_cast<std::int64_t>(settings_.wait_timeout_s * 1e6);
}

void PoolOfThreads::open_groups(int count) {
  for (int i = 0; i < count; ++i) groups_[static_cast<std::size_t>(i)]->open();
}

Group& PoolOfThreads::group_of(const Connection& connection) const {
  const auto count = static_cast<std::uint64_t>(group_count_.load(std::memory_order_acquire));
  return *groups_[connection.id % count];
}

void PoolOfThreads::tick() {
  const std::int64_t tick_us = now_ns() / 1'000;
  for (auto& group : groups_) group->tick(tick_us);
}

}  // namespace poolpilot
