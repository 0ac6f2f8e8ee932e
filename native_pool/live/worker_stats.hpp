// What one worker thread counts: written by it alone, read by whoever takes a snapshot.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "live/histogram.hpp"
#include "live/protocol.hpp"

namespace poolpilot {

// A monotonic counter with one writer. Relaxed: a snapshot is a sum over threads that run on, so no
// order between counters could be promised anyway; each is exact once its thread is idle.
class Counter {
 public:
  void add(std::int64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct WorkerStats {
  Counter completed;
  Counter failed;
  Counter latch_waits;
  Counter sampled_requests;
  Counter voluntary_switches;
  Counter involuntary_switches;
  std::array<Counter, kWaitKinds> waits;
  Histogram queue_wait_us;
  Histogram active_round_us;
  Histogram wait_round_us;
  Histogram think_us;
  Histogram latch_wait_us;
  Histogram round_cpu_us;
  Histogram run_delay_us;
  Histogram active_rounds;
  std::array<Histogram, kClasses> latency_us;
};

}  // namespace poolpilot
