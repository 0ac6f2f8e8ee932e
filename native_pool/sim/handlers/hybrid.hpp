// The hybrid handler of the simulated pool, as live/handlers/hybrid.cpp: it deals connections to
// pools.
//
// Owns the pools and where their connections are. Calls its pools and the engine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "policy/group_machine.hpp"
#include "pool/knobs.hpp"
#include "pool/tuple.hpp"
#include "sim/engine.hpp"
#include "sim/handlers/hybrid_pool.hpp"
#include "sim/settings.hpp"

namespace poolpilot::sim {

class Hybrid {
 public:
  Hybrid(Engine& engine, std::vector<Connection>& connections, const SimulationSettings& settings);

  void configure(const PoolTuple& tuple, const PoolKnobs&);
  void welcome(std::uint32_t connection) { pools_[home_of(connection)].admit(connection); }
  void receive(std::uint32_t connection) {
    pools_[connections_[connection].group].receive(connection);
  }
  void rearm(std::uint32_t connection, std::uint32_t thread);

  std::uint32_t next(std::uint32_t thread) { return at_work(pool_of(thread).next(thread)); }
  std::uint32_t resume(std::uint32_t thread) { return at_work(pool_of(thread).resume(thread)); }

  void wait_begin(std::uint32_t thread, WaitKind kind);
  void wait_end(std::uint32_t thread, WaitKind kind);

  void expire_sleepers(std::uint32_t pool) { pools_[pool].expire_sleepers(); }
  void check_stall(std::uint32_t pool) { pools_[pool].check_stall(); }
  void tick();

  void add_counts(GroupCounters& counters, GroupState& state) const;
  // To threads that own a connection, and back to the epoll.
  std::pair<std::int64_t, std::int64_t> hand_overs() const;
  std::size_t queued() const;
  std::size_t idle_checks() const;

 private:
  std::uint32_t home_of(std::uint32_t connection) const;
  HybridPool& pool_of(std::uint32_t thread) { return pools_[engine_.thread(thread).group]; }
  std::uint32_t at_work(std::uint32_t connection);

  Engine& engine_;
  std::vector<Connection>& connections_;
  HybridSettings settings_;
  HybridPlaces places_;
  PoolTuple tuple_;
  std::vector<HybridPool> pools_;
  CountOverTime active_;
};

}  // namespace poolpilot::sim
