// The admission of a live pool: its mutex, its clock, and the way of those that waited back to a
// thread.
//
// Who may not run yet is parked: enter() puts the connection into the queue, and from then on it
// belongs to no thread. No epoll watches it, no timer ends it, and the thread whose turn it was
// must not touch it any more, because whoever makes room may queue it again at once. Its request
// stays in its buffer. Whoever makes room, a thread that leaves, a change of the settings or the
// timer that looks for long transactions, takes it out of the queue under the mutex and so owns it,
// lets the mutex go, and has it queued with high priority, since a place that is free costs: by the
// home whose thread has just left, or where none has by its own.
//
// A connection is in the queue or owned by a turn, never both, so one that waits is never closed:
// who goes away meanwhile is found out when it is served. While a pool stops, homes queue such a
// connection and no thread takes it; the pool frees it like every other.
//
// The mutex is taken last and alone; a home takes its own after it was let go.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "live/connection.hpp"
#include "live/timer.hpp"
#include "policy/admission.hpp"
#include "pool/snapshot.hpp"

namespace poolpilot {

class AdmissionGate {
 public:
  AdmissionGate(const AdmissionSettings& settings, const std::vector<int>& cpus);

  // With a limit, starts the timer. Throws std::system_error when the system refuses its thread.
  void start();
  // Returns once the timer's last look is over. Safe to call before a start.
  void stop();

  // Whether a request needs a place. One that comes to a gate without a limit passes it, and is not
  // counted; so is one of an exempt class, whatever the limit.
  bool holds_for(int class_id) const {
    return limit_.load(std::memory_order_relaxed) > 0 &&
           class_id != exempt_class_.load(std::memory_order_relaxed);
  }

  // In the connection's turn. When it is parked, the caller must not touch it afterwards.
  Admittance enter(Connection& connection);
  // In the connection's turn. Does nothing for one that was not admitted. Who is let in is queued
  // by `host`, or where that is nullptr by its own home.
  void leave(Connection& connection, ConnectionHome* host);

  // Throws std::invalid_argument outside the ranges and std::system_error when the system refuses
  // the timer's thread; the old settings then stay. One call at a time, not beside start() or
  // stop().
  void configure(const AdmissionSettings& settings);

  void add_counts(PoolSnapshot& snapshot) const;

 private:
  void look_for_long_ones();
  void run_timer(const AdmissionSettings& settings);
  static void serve_again(Woken woken, ConnectionHome* host);

  mutable std::mutex mutex_;
  Admission admission_;
  // What is in force, for a look without the mutex. Relaxed: who comes while it changes may as well
  // have come before, and what happens is decided under the mutex.
  std::atomic<int> limit_;
  std::atomic<int> exempt_class_;
  const AdmissionSettings first_;  // what start() begins with
  bool timer_runs_ = false;
  Timer timer_;
};

}  // namespace poolpilot
