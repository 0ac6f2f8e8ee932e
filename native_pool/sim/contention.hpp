// How fast runnable threads progress when they share the processors.
#pragma once

#include <algorithm>
#include <cmath>

namespace poolpilot::sim {

// What sharing costs. With n runnable threads on C processors each runs at full speed while n <= C.
struct Contention {
  enum class Law {
    kCost,    // C/n, less the share of a quantum that a switch takes, less what cold caches cost
    kSeed,    // C/n - a: the law of the seed's authors
    kSlices,  // a thread has a processor for a quantum or none; a switch costs switch_us
  };

  Law law = Law::kCost;
  double switch_us = 0.0;      // processor time lost at a switch between two runnable threads
  double quantum_us = 3000.0;  // how long a thread runs before another gets its turn
  double credit_us = 4000.0;   // slices: how far a woken thread may be behind the others
  double cache_loss = 0.0;     // slow-down at n >> C, as a share of the work
  double seed_loss = 0.0;      // `a` of the seed's law

  // Work done in a unit of time by each of `runnable` threads.
  double speed(int runnable, int cpus) const {
    if (runnable <= cpus) return 1.0;
    const double share = static_cast<double>(cpus) / runnable;
    // The law would stop or turn the work back beyond C/a threads; a hundredth of the share is
    // left.
    if (law == Law::kSeed) return std::max(share - seed_loss, 0.01 * share);
    const double kept = quantum_us / (quantum_us + switch_us);
    return share * kept / (1.0 + cache_loss * (1.0 - share));
  }
};

}  // namespace poolpilot::sim
