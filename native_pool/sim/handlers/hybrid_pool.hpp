// One pool of the hybrid handler of the simulator: a HybridMachine with its epoll and its threads,
// as live/handlers/hybrid_pool.cpp.
//
// Owns what is ready for its epoll, which of its threads wait there, and which have a connection of
// their own. One waiting thread is woken an event, the last that began to wait first; none is while
// enough serve, as the others stand by. Calls the engine alone.
#pragma once

#include <cstdint>
#include <vector>

#include "handlers/hybrid_machine.hpp"
#include "queues/ring.hpp"
#include "sim/engine.hpp"
#include "sim/handlers/hybrid_places.hpp"
#include "sim/parts.hpp"

namespace poolpilot::sim {

class HybridPool {
 public:
  HybridPool(Engine& engine, std::vector<Connection>& connections, HybridPlaces& places,
             const HybridSettings& settings, std::uint32_t number)
      : engine_(engine),
        connections_(connections),
        places_(places),
        settings_(settings),
        machine_(settings),
        number_(number) {}

  // A connection, new or of another pool, is in the epoll from now on.
  void admit(std::uint32_t connection);
  // The thread that serves or owns a connection forgets it.
  void leave(std::uint32_t connection, std::uint32_t thread);
  // A request of a connection has come.
  void receive(std::uint32_t connection);
  // The turn of a thread is over.
  void end_turn(std::uint32_t connection, std::uint32_t thread);

  // The connection that a thread serves next; kNobody when it waits.
  std::uint32_t next(std::uint32_t thread);
  // The same for one that waited, or is new: the gate may have called it.
  std::uint32_t resume(std::uint32_t thread);

  void lock_wait_begin() { apply(HybridEventKind::kLockWaitBegin); }
  void lock_wait_end() { apply(HybridEventKind::kLockWaitEnd); }

  void set_processors(int number) { machine_.set_processors(number); }
  void set_idle_timeout(double seconds) { idle_timeout_s_ = seconds; }
  void expire_sleepers();
  void check_stall();
  void tick();

  const HybridState& state() const { return machine_.state(); }
  HybridCounters counters() const { return machine_.counters_at(engine_.now_us()); }
  // Connections of the epoll that have an event.
  std::size_t ready() const { return ready_.size(); }
  std::size_t idle_checks() const { return idle_checks_; }

 private:
  struct Waiter {
    std::uint32_t thread;
    TimeNs until_ns;
    bool idle;  // until then it has waited for idle_timeout_s
  };

  HybridDecision apply(HybridEventKind kind, bool owns = false, bool idle = false);
  HybridDecision apply(const HybridEvent& event);
  void count_turn(std::uint32_t connection, std::uint32_t thread);
  void turn_over(std::uint32_t connection, std::uint32_t thread);
  void put(std::uint32_t connection);
  void find(std::uint32_t connection);
  std::uint32_t take();
  void wait(std::uint32_t thread);
  void call_waiting();
  bool enough_serve() const { return machine_.enough_serve(serving_); }
  void begin_serving(std::uint32_t connection);
  void end_serving(std::uint32_t connection, std::uint32_t thread);
  void watch_for_stall();
  Waiter waiter(std::uint32_t thread) const;
  void own(std::uint32_t connection, std::uint32_t thread);
  void disown(std::uint32_t connection);
  void call(std::uint32_t thread);
  void call_owners();
  void check_idle_at(TimeNs time_ns);

  Engine& engine_;
  std::vector<Connection>& connections_;
  HybridPlaces& places_;
  HybridSettings settings_;
  HybridMachine machine_;
  std::uint32_t number_;
  double idle_timeout_s_ = 60.0;
  Ring<std::uint32_t> ready_;         // connections of the epoll with an event
  std::vector<Waiter> waiting_;       // the last began to wait last
  std::vector<std::uint32_t> owned_;  // connections that threads have for themselves
  std::int64_t turns_ = 0;            // since the last tick
  TimeNs turn_ns_ = 0;
  std::int64_t slept_ = 0;  // turns in which a thread did
  std::size_t idle_checks_ = 0;
  // As in the live pool.
  int serving_ = 0;
  std::uint32_t era_ = 0;
  std::int64_t taken_ = 0;
  bool watched_for_stall_ = false;
  std::int64_t taken_when_watched_ = 0;
  TimeNs idle_check_ns_ = kNever;  // the first that counts
};

}  // namespace poolpilot::sim
