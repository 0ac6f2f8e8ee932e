// The connection handler of a simulated pool, whichever it has: which thread serves what, and when.
//
// One of a few known classes and no base of theirs, so that what happens at every event can be
// inlined. Threads and connections are their numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "sim/engine.hpp"
#include "sim/handlers/hybrid.hpp"
#include "sim/handlers/per_connection.hpp"
#include "sim/settings.hpp"
#include "sim/thread_groups.hpp"

namespace poolpilot::sim {

class Handler {
 public:
  Handler(Engine& engine, std::vector<Connection>& connections, const SimulationSettings& settings)
      : one_(made(engine, connections, settings)) {}

  void configure(const PoolTuple& tuple, const PoolKnobs& knobs) {
    std::visit([&](auto& one) { one.configure(tuple, knobs); }, one_);
  }
  void welcome(std::uint32_t connection) {
    std::visit([&](auto& one) { one.welcome(connection); }, one_);
  }
  // A request of the connection has come.
  void receive(std::uint32_t connection) {
    std::visit([&](auto& one) { one.receive(connection); }, one_);
  }
  // Waits for the connection's next request, after a turn of the thread's.
  void rearm(std::uint32_t connection, std::uint32_t thread) {
    std::visit([&](auto& one) { one.rearm(connection, thread); }, one_);
  }

  // The turn of a connection ends with its being parked, and one that was is to be served again,
  // see ThreadGroups. Nobody is parked under the other handlers: only a pool of thread groups has
  // an admission (check_pool()).
  void parked(std::uint32_t connection) { std::get<ThreadGroups>(one_).parked(connection); }
  void requeue(std::uint32_t connection, std::uint32_t thread) {
    std::get<ThreadGroups>(one_).requeue(connection, thread);
  }

  // The connection that a thread serves next; kNobody when there is none for it yet.
  std::uint32_t next(std::uint32_t thread) {
    return std::visit([&](auto& one) { return one.next(thread); }, one_);
  }
  // The same for a thread that had none, or is new, and runs now.
  std::uint32_t resume(std::uint32_t thread) {
    return std::visit([&](auto& one) { return one.resume(thread); }, one_);
  }

  // A thread reports a wait, and its end.
  void wait_begin(std::uint32_t thread, WaitKind kind) {
    std::visit([&](auto& one) { one.wait_begin(thread, kind); }, one_);
  }
  void wait_end(std::uint32_t thread, WaitKind kind) {
    std::visit([&](auto& one) { one.wait_end(thread, kind); }, one_);
  }

  // The idle time of a sleeper of the group may be over.
  void expire_sleepers(std::uint32_t group) {
    std::visit([&](auto& one) { one.expire_sleepers(group); }, one_);
  }
  // Those who serve in a pool of the hybrid handler may sleep.
  void check_stall(std::uint32_t pool) { std::get<Hybrid>(one_).check_stall(pool); }
  void tick() {
    std::visit([](auto& one) { one.tick(); }, one_);
  }

  void add_counts(GroupCounters& counters, GroupState& state) const {
    std::visit([&](const auto& one) { one.add_counts(counters, state); }, one_);
  }
  // Connections that threads of the hybrid handler took for themselves, and gave back.
  std::pair<std::int64_t, std::int64_t> hand_overs() const {
    const auto* hybrid = std::get_if<Hybrid>(&one_);
    return hybrid != nullptr ? hybrid->hand_overs() : std::pair<std::int64_t, std::int64_t>();
  }
  // Those of its thread groups; empty where it has none.
  const std::deque<EventLog>& event_logs() const {
    static const std::deque<EventLog> none;
    const auto* groups = std::get_if<ThreadGroups>(&one_);
    return groups != nullptr ? groups->event_logs() : none;
  }
  // Requests whose queue no rule has named.
  std::int64_t unmapped_requests() const {
    const auto* groups = std::get_if<ThreadGroups>(&one_);
    return groups != nullptr ? groups->unmapped_requests() : 0;
  }
  // Requests that have come and that no thread has taken.
  std::size_t queued() const {
    return std::visit([](const auto& one) { return one.queued(); }, one_);
  }
  // Events to come that only end idle times.
  std::size_t idle_checks() const {
    return std::visit([](const auto& one) { return one.idle_checks(); }, one_);
  }

 private:
  using One = std::variant<ThreadGroups, PerConnection, Hybrid>;

  static One made(Engine& engine, std::vector<Connection>& connections,
                  const SimulationSettings& settings) {
    switch (settings.handling.handler) {
      case HandlerKind::kPerConnection:
        return One(std::in_place_type<PerConnection>, engine, connections);
      case HandlerKind::kHybrid:
        return One(std::in_place_type<Hybrid>, engine, connections, settings);
      case HandlerKind::kPool:
        break;
    }
    return One(std::in_place_type<ThreadGroups>, engine, connections, settings);
  }

  One one_;
};

}  // namespace poolpilot::sim
