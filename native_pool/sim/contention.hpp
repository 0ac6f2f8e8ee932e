// How fast runnable threads progress when they share the processors.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "settings/setting.hpp"

namespace poolpilot::sim {

// What sharing costs. With n runnable threads on C processors each runs at full speed while n <= C.
// What each setting means stands in the table.
struct Contention {
  enum class Law {
    kCost,    // C/n, less the share of a quantum that a switch takes, less what cold caches cost
    kSeed,    // C/n - a: the law of Trub (simulation; docs/references.md)
    kSlices,  // a thread has a processor for a quantum or none; a switch costs switch_us
  };

  static constexpr std::array kLawNames{"cost", "seed", "slices"};

  Law law = Law::kCost;
  double switch_us = 0.0;
  double quantum_us = 3000.0;
  double credit_us = 4000.0;
  double cache_loss = 0.0;
  double seed_loss = 0.0;

  static std::span<const SettingField<Contention>> fields();

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

inline std::span<const SettingField<Contention>> Contention::fields() {
  using S = Contention;
  static constexpr const char* kMicroseconds = "microseconds";
  static constexpr SettingField<S> kFields[] = {
      choice_field<S, &S::law>(S::kLawNames, "law",
                               "How processors are shared: evenly at the cost of switches and cold "
                               "caches, evenly by Trub's law, or in slices."),
      {&S::switch_us, "switch_us", kMicroseconds, 0, 1e6,
       "Processor time lost at a switch between two threads that could run."},
      {&S::quantum_us, "quantum_us", kMicroseconds, 1, 1e7,
       "How long a thread runs before another gets its turn."},
      {&S::credit_us, "credit_us", kMicroseconds, 0, 1e7,
       "Slices: how far a woken thread may be behind the others."},
      {&S::cache_loss, "cache_loss", "share", 0, 100,
       "Slow-down with far more threads than processors, as a share of the work."},
      {&S::seed_loss, "seed_loss", "share", 0, 1,
       "`a` of Trub's law: n threads on C processors each progress at C/n - a."}};
  return kFields;
}

}  // namespace poolpilot::sim
