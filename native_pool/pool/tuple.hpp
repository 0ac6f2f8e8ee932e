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

// Throws std::invalid_argument that names the field, its value and its range.
void check(const PoolTuple& tuple, int max_pool_size);

}  // namespace poolpilot
