// The state machine of one pool of the hybrid handler: events in, actions out. No threads, no
// clock, no sockets.
//
// After Damien Katz's thread_pool_hybrid. A thread of the pool is in one of three places:
//
// * it waits in the epoll that the pool's threads share, for any connection that is there;
// * it serves a connection that it found there;
// * it has a connection of its own, which it serves, and waits for in poll(2) in between.
//
// A connection is served, or owned, or in the epoll. The gate says whether a thread may keep the
// connection that it serves. It is open while there are no more connections than max_threads,
// whoever is in the epoll finds a thread there, and turns are not short. So a thread never leaves a
// connection in the epoll behind without another that waits for it, be it that the system refuses
// new threads; and who has a connection of its own goes back to the epoll once the gate is shut.
// Threads that serve turn to one or the other at the end of their turn.
//
// Turns are short while they take less than share_below_us on average over a tick and hardly any
// goes to sleep; twice as much of one or the other ends it. A thread for each connection then costs
// more switches of threads than it is good for: a few share the connections. One takes as many of
// them out of the epoll at once as last ten times share_below_us together; the machine counts those
// taken along as in the epoll still. When as many serve as are to wait at least, and as there are
// processors for them, whoever else comes for its next connection stands by outside the epoll,
// where each event would wake it, to share the processor with those that come for the event
// anyway. For the machine it waits; one is enough then, and as many as may serve are kept.
//
// A created thread waits, as far as the machine is concerned, from the decision to create it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "handlers/hybrid_settings.hpp"
#include "policy/count_over_time.hpp"

namespace poolpilot {

enum class HybridEventKind : std::uint8_t {
  kConnectionAdded,  // a connection now belongs to the pool, and is in the epoll
  kConnectionLost,   // one that no thread serves or owns left it
  kTaken,            // a thread that waited takes one out of the epoll
  kTurnOver,         // the turn of a thread is over, or the one that owns asks again
  kConnectionLeft,   // the connection that a thread serves or owns left the pool
  kWaitedInVain,     // a thread that waits has waited for as long as it was told
  kLockWaitBegin,    // a thread reports a wait for a lock that another connection may hold
  kLockWaitEnd,      // and its end
  kTick,             // the timer
  kCreateFailed,     // the thread asked for just now could not be created
};

struct HybridEvent {
  HybridEventKind kind;
  std::int64_t now_us = 0;
  bool owns = false;         // the thread that brings it has a connection of its own
  bool idle = false;         // it has waited for idle_timeout_s, and not only for keep_excess_ms
  bool pools_full = false;   // all pools together have reached their limit of threads
  double turn_us = 0.0;      // of a tick: what a turn has taken on average since the last one, or 0
  double slept_share = 0.0;  // and the share of turns in which a thread went to sleep
};

// What the thread that brought the event does next.
enum class HybridSelf : std::uint8_t {
  kNone,
  kOwn,   // keeps its connection and waits for it alone
  kWait,  // waits in the epoll, whither its connection goes
  kExit,
};

// What becomes of the gate.
enum class Gate : std::uint8_t { kStays, kOpens, kShuts };

struct HybridDecision {
  HybridSelf self = HybridSelf::kNone;
  bool create = false;  // another thread
  Gate gate = Gate::kStays;

  bool operator==(const HybridDecision&) const = default;
};

struct HybridState {
  static constexpr int kMostAtOnce = 256;  // beyond it a wait for the epoll is no longer felt

  int thread_count = 0;
  int waiting_count = 0;
  int owning_count = 0;
  int lock_waiting_count = 0;
  int connection_count = 0;
  bool gate_open = true;
  int taken_at_once = 1;  // connections out of the epoll; more than one while turns are short

  int in_epoll() const { return connection_count - (thread_count - waiting_count); }
};

struct HybridCounters {
  std::int64_t thread_creations = 0;
  std::int64_t taken = 0;      // turns that began in the epoll
  std::int64_t to_own = 0;     // hand-overs of a connection from the epoll to a thread
  std::int64_t to_epoll = 0;   // and back
  std::int64_t thread_us = 0;  // threads, integrated over time
};

class HybridMachine {
 public:
  explicit HybridMachine(const HybridSettings& settings) : settings_(settings) {}

  HybridDecision apply(const HybridEvent& event);

  // Whether a thread that waits is one too many, and ends after keep_excess_ms; another one ends
  // only where there is no connection for a long time.
  bool has_excess() const;

  // Of all processors, those for this pool.
  void set_processors(int number) { processors_ = number; }
  // Whether so many threads in a turn are enough, and others stand by.
  bool enough_serve(int serving) const { return shares() && serving >= enough(); }

  const HybridState& state() const { return state_; }
  // Counters with the integral carried on to `now_us`.
  HybridCounters counters_at(std::int64_t now_us) const;

 private:
  HybridDecision decide(const HybridEvent& event);
  HybridDecision turn_over(const HybridEvent& event);
  HybridDecision waited_in_vain(const HybridEvent& event);
  bool create_if(bool wanted, const HybridEvent& event);
  bool shares() const { return state_.taken_at_once > 1; }
  int enough() const { return std::max(settings_.min_waiting, processors_); }
  bool below_minimum() const;
  bool is_stuck() const;
  int taken_at_once(const HybridEvent& tick) const;
  Gate move_gate();

  HybridSettings settings_;
  int processors_ = 1;
  HybridState state_;
  HybridCounters counters_;
  CountOverTime threads_;
};

}  // namespace poolpilot
