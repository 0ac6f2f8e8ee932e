// The simulated pool: the live server's state machine and step programs in virtual time.
//
// The pool owns the parts and runs them: it takes what happens next from the engine and gives it to
// the part that it concerns. Connections and requests are of the client and the executor, threads
// that have none of the handler, and all of them start bursts and events of the engine. A handler
// calls nobody else, so that another can take its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "pool/snapshot.hpp"
#include "sim/admission_gate.hpp"
#include "sim/client.hpp"
#include "sim/client_thread.hpp"
#include "sim/deadlock.hpp"
#include "sim/engine.hpp"
#include "sim/executor.hpp"
#include "sim/handler.hpp"
#include "sim/latches.hpp"
#include "sim/rounds.hpp"
#include "sim/settings.hpp"
#include "sim/storage.hpp"

namespace poolpilot::sim {

// Where a run ends: at the first of them.
struct RunLimits {
  double until_s = 1e9;                     // virtual time
  std::int64_t until_answered = INT64_MAX;  // requests answered since the beginning, but
  double at_least_until_s = 0.0;            // not before this time
  std::int64_t events = INT64_MAX;          // that happen in this run
  const std::atomic<bool>* stop = nullptr;  // set by another thread
};

// One thread runs it; different pools may run in different threads. Time is virtual and begins at
// 0.
class SimulatedPool {
 public:
  // Throws std::invalid_argument when a setting is outside its range.
  explicit SimulatedPool(const SimulationSettings& settings);
  SimulatedPool(const SimulatedPool&) = delete;
  SimulatedPool& operator=(const SimulatedPool&) = delete;

  // Runs up to a limit; true when it was the time or the requests. Throws Deadlock, and the same in
  // every later run, until other settings may have freed a pool that stands still. Throws
  // std::overflow_error where the time lies beyond the end of the clock, after 146 years.
  bool run(const RunLimits& limits);

  // Throws std::invalid_argument outside the ranges; the old tuple then stays.
  PoolTuple set_tuple(const PoolTuple& tuple);
  PoolTuple tuple() const { return tuple_; }
  // Throws std::invalid_argument outside the ranges; the old knobs then stay.
  PoolKnobs set_knobs(const PoolKnobs& knobs);
  const PoolKnobs& knobs() const { return knobs_; }

  PoolSnapshot snapshot() const;
  double now_s() const { return static_cast<double>(engine_.now_ns()) / 1e9; }
  std::int64_t events() const { return events_done_; }
  std::int64_t sent() const { return client_.sent(); }
  std::int64_t answered() const {
    return measures_.counters.completed.value() + measures_.counters.failed.value() +
           measures_.refused;
  }
  // Threads created and woken because of a stall.
  std::int64_t thread_changes() const;
  std::int64_t in_flight() const { return sent() - answered(); }
  const std::deque<EventLog>& event_logs() const { return handler_.event_logs(); }

 private:
  bool go_on(const RunLimits& limits);
  void happen(std::uint32_t what);
  void thread_event(std::uint32_t thread);
  void burst_over(std::uint32_t thread);
  void client_has_worked();
  void tick(std::uint32_t epoch);
  void arm_timer();
  void rearm_timer();
  void detect_standstill();
  void try_again();

  const SimulationSettings settings_;
  PoolTuple tuple_;
  PoolKnobs knobs_;
  std::uint32_t tuple_epoch_ = 0;
  std::uint32_t timer_epoch_ = 0;  // changes of the timer's interval
  std::int64_t events_done_ = 0;
  int idle_ticks_ = 0;                 // ticks in a row at which nothing but the timer was left
  std::int64_t changes_by_ticks_ = 0;  // creations and wakes by then
  TimeNs first_idle_tick_ns_ = 0;
  TimeNs last_idle_tick_ns_ = 0;
  std::string deadlock_;       // what a run has thrown; empty: it can go on
  bool stands_still_ = false;  // that was a standstill, after which no tick is armed
  std::vector<Connection> connections_;
  Engine engine_;
  Client client_;
  ClientThread client_thread_;
  Measures measures_;
  Handler handler_;
  AdmissionGate gate_;
  Latches latches_;
  Storage storage_;
  Executor executor_;
};

}  // namespace poolpilot::sim
