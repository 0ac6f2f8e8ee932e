// The connection handler of the simulated pool that gives every client a thread, as
// live/handlers/per_connection.cpp.
//
// Owns which thread serves a connection and whether a request waits for it. A thread's group is the
// number of its connection. Calls the engine alone.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/count_over_time.hpp"
#include "policy/group_machine.hpp"
#include "pool/knobs.hpp"
#include "pool/tuple.hpp"
#include "sim/engine.hpp"

namespace poolpilot::sim {

class PerConnection {
 public:
  PerConnection(Engine& engine, std::vector<Connection>& connections)
      : engine_(engine), connections_(connections), own_(connections.size()) {}

  static void configure(const PoolTuple&, const PoolKnobs&) {}
  void welcome(std::uint32_t connection);
  void receive(std::uint32_t connection);
  void rearm(std::uint32_t, std::uint32_t) { active_.add(-1, engine_.now_us()); }

  std::uint32_t next(std::uint32_t thread);
  std::uint32_t resume(std::uint32_t thread) { return next(thread); }

  void wait_begin(std::uint32_t, WaitKind) { active_.add(-1, engine_.now_us()); }
  void wait_end(std::uint32_t, WaitKind) { active_.add(1, engine_.now_us()); }

  static void expire_sleepers(std::uint32_t) {}
  static void tick() {}

  void add_counts(GroupCounters& counters, GroupState& state) const;
  std::size_t queued() const { return unserved_; }
  static std::size_t idle_checks() { return 0; }

 private:
  struct Own {
    std::uint32_t sleeper = kNobody;  // its thread, where it waits for a request
    bool asked = false;               // a request has come that its thread has not taken
  };

  Engine& engine_;
  std::vector<Connection>& connections_;
  std::vector<Own> own_;  // by connection
  CountOverTime threads_;
  CountOverTime active_;
  std::size_t unserved_ = 0;
};

}  // namespace poolpilot::sim
