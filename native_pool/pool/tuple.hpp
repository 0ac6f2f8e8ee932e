// The pool tuple: the knobs that may change while a pool serves, live or simulated.
#pragma once

#include <span>

#include "settings/setting.hpp"

namespace poolpilot {

inline constexpr int kMaxGroups = 4096;

// The names are those of featurizer/pool_tuple.py.
struct PoolTuple {
  int pool_size = 1;
  int oversubscribe = 3;
  int timer_interval_ms = 500;
  bool create_thread_on_wait = true;
  double idle_timeout_s = 60.0;

  static std::span<const SettingField<PoolTuple>> fields();
};

inline std::span<const SettingField<PoolTuple>> PoolTuple::fields() {
  using S = PoolTuple;
  static constexpr SettingField<S> kFields[] = {
      {&S::pool_size, "pool_size", "groups", 1, kMaxGroups,
       "Thread groups that connections are spread over; up to max_pool_size."},
      {&S::oversubscribe, "oversubscribe", "threads", 1, 1000,
       "Active threads that a group tolerates beyond the first."},
      {&S::timer_interval_ms, "timer_interval_ms", "milliseconds", 1, 3'600'000,
       "Time between two looks at groups that have stalled."},
      {&S::create_thread_on_wait, "create_thread_on_wait", "switch", 0, 1,
       "Lets a reported wait wake or create a thread in the place of the one that waits."},
      {&S::idle_timeout_s, "idle_timeout_s", "seconds", 0.01, 1e6,
       "Time after which a thread that sleeps ends."}};
  return kFields;
}

// Throws std::invalid_argument that names the field, its value and its range.
inline void check(const PoolTuple& tuple, int max_pool_size) {
  check_range("pool_size", tuple.pool_size, 1, max_pool_size);
  require_ranges(tuple);
}

}  // namespace poolpilot
