#include "sim/handlers/hybrid.hpp"

namespace poolpilot::sim {

Hybrid::Hybrid(Engine& engine, std::vector<Connection>& connections,
               const SimulationSettings& settings)
    : engine_(engine),
      connections_(connections),
      settings_(settings.handling.hybrid),
      places_(connections.size()) {
  configure(settings.tuple, settings.knobs);
}

void Hybrid::configure(const PoolTuple& tuple, const PoolKnobs&) {
  tuple_ = tuple;
  const int processors = (engine_.machine().cpus + tuple.pool_size - 1) / tuple.pool_size;
  while (pools_.size() < static_cast<std::size_t>(tuple.pool_size)) {
    const auto number = static_cast<std::uint32_t>(pools_.size());
    pools_.emplace_back(engine_, connections_, places_, settings_, number);
  }
  for (HybridPool& pool : pools_) {
    pool.set_processors(processors);
    pool.set_idle_timeout(tuple.idle_timeout_s);
  }
}

std::uint32_t Hybrid::home_of(std::uint32_t connection) const {
  return connection % static_cast<std::uint32_t>(tuple_.pool_size);
}

void Hybrid::rearm(std::uint32_t connection, std::uint32_t thread) {
  active_.add(-1, engine_.now_us());
  const std::uint32_t pool = connections_[connection].group;
  const std::uint32_t home = home_of(connection);
  if (home == pool) return pools_[pool].end_turn(connection, thread);
  pools_[pool].leave(connection, thread);
  pools_[home].admit(connection);
}

std::uint32_t Hybrid::at_work(std::uint32_t connection) {
  if (connection != kNobody) active_.add(1, engine_.now_us());
  return connection;
}

void Hybrid::wait_begin(std::uint32_t thread, WaitKind kind) {
  active_.add(-1, engine_.now_us());
  if (kind == WaitKind::kRowLock) pool_of(thread).lock_wait_begin();
}

void Hybrid::wait_end(std::uint32_t thread, WaitKind kind) {
  active_.add(1, engine_.now_us());
  if (kind == WaitKind::kRowLock) pool_of(thread).lock_wait_end();
}

void Hybrid::tick() {
  for (HybridPool& pool : pools_) pool.tick();
}

void Hybrid::add_counts(GroupCounters& counters, GroupState& state) const {
  for (const HybridPool& pool : pools_) {
    const HybridCounters counted = pool.counters();
    counters.thread_creations += counted.thread_creations;
    counters.dequeues_worker += counted.taken;
    counters.polls_worker += counted.taken;
    counters.thread_us += counted.thread_us;
    state.thread_count += pool.state().thread_count;
  }
  counters.active_thread_us += active_.integral_us(engine_.now_us());
  state.active_count += active_.count();
}

std::pair<std::int64_t, std::int64_t> Hybrid::hand_overs() const {
  std::pair<std::int64_t, std::int64_t> sum{0, 0};
  for (const HybridPool& pool : pools_) {
    sum.first += pool.counters().to_own;
    sum.second += pool.counters().to_epoll;
  }
  return sum;
}

std::size_t Hybrid::queued() const {
  std::size_t sum = places_.asked;
  for (const HybridPool& pool : pools_) sum += pool.ready();
  return sum;
}

std::size_t Hybrid::idle_checks() const {
  std::size_t sum = 0;
  for (const HybridPool& pool : pools_) sum += pool.idle_checks();
  return sum;
}

}  // namespace poolpilot::sim
