// The connection handler of the simulated pool that is MariaDB's pool of threads: it deals
// connections to groups.
//
// Owns the groups and their event logs. Calls its groups and the engine; a thread that finds a
// request is told the connection, and what it does with it is the executor's.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "pool/tuple.hpp"
#include "sim/engine.hpp"
#include "sim/group.hpp"
#include "sim/settings.hpp"

namespace poolpilot::sim {

class ThreadGroups {
 public:
  ThreadGroups(Engine& engine, std::vector<Connection>& connections,
               const SimulationSettings& settings);

  void welcome(std::uint32_t connection);
  // A request of the connection has come.
  void receive(std::uint32_t connection) {
    groups_[connections_[connection].group].receive(connection);
  }
  // Waits for the connection's next request, in the group where it belongs now.
  void rearm(std::uint32_t connection, std::uint32_t thread);

  // The turn of a connection ends with its being parked.
  void parked(std::uint32_t connection) {
    groups_[connections_[connection].taken_by].served(connection);
  }
  // A connection that was parked in its last turn is to be served again, before new requests: where
  // the thread that has made room for it belongs, or in its own group where none has.
  void requeue(std::uint32_t connection, std::uint32_t thread) {
    const bool in_its_own = thread == kNobody;
    const std::uint32_t group =
        in_its_own ? connections_[connection].group : engine_.thread(thread).group;
    groups_[group].requeue(connection);
  }

  // The connection that a thread serves next; kNobody when there is none for it yet.
  std::uint32_t next(std::uint32_t thread);
  // The same for a thread that had none, or is new, and runs now.
  std::uint32_t resume(std::uint32_t thread);

  // A thread reports a wait, and its end.
  void wait_begin(std::uint32_t thread, WaitKind) { group_of(thread).wait_begin(); }
  void wait_end(std::uint32_t thread, WaitKind) { group_of(thread).wait_end(); }

  // The idle time of a sleeper of the group may be over.
  void expire_sleepers(std::uint32_t group) { groups_[group].expire_sleepers(); }
  void tick();
  void configure(const PoolTuple& tuple, const PoolKnobs& knobs);

  void add_counts(GroupCounters& counters, GroupState& state) const;
  const std::deque<EventLog>& event_logs() const { return logs_; }
  // Requests whose queue no rule has named.
  std::int64_t unmapped_requests() const;
  // Requests that have come and that no thread has taken.
  std::size_t queued() const;
  // Events to come that only end idle times.
  std::size_t idle_checks() const;

 private:
  std::uint32_t home_of(std::uint32_t connection) const;
  Group& group_of(std::uint32_t thread) { return groups_[engine_.thread(thread).group]; }

  Engine& engine_;
  std::vector<Connection>& connections_;
  const SimulationSettings& settings_;
  PoolTuple tuple_;
  std::int64_t tick_us_ = 0;
  std::vector<Group> groups_;
  std::deque<EventLog> logs_;  // a group's stays where it is while others open
};

}  // namespace poolpilot::sim
