// What a pool of the hybrid handler is told.
#pragma once

#include <span>

#include "settings/setting.hpp"

namespace poolpilot {

struct HybridSettings {
  int max_threads = 16;
  int min_waiting = 2;
  int keep_excess_ms = 50;
  int share_below_us = 200;

  bool operator==(const HybridSettings&) const = default;

  static std::span<const SettingField<HybridSettings>> fields();
};

inline std::span<const SettingField<HybridSettings>> HybridSettings::fields() {
  using S = HybridSettings;
  static constexpr SettingField<S> kFields[] = {
      {&S::max_threads, "hybrid_max_threads", "threads", 2, 65'535,
       "Up to so many connections a pool of hybrid has a thread for each, and so many threads "
       "serve "
       "more of them."},
      {&S::min_waiting, "hybrid_min_waiting", "threads", 1, 65'535,
       "So many threads of a pool of hybrid are kept waiting for any connection; up to "
       "hybrid_max_threads."},
      {&S::keep_excess_ms, "hybrid_keep_excess_ms", "milliseconds", 0, 3'600'000,
       "Time after which a further one that waits in vain ends."},
      {&S::share_below_us, "hybrid_share_below_us", "microseconds", 0, 1'000'000,
       "Where a turn takes less than this on average, threads have no connection of their own; 0: "
       "never."}};
  return kFields;
}

// Of settings within their ranges: throws std::invalid_argument where more threads are to wait than
// there may be.
inline void check(const HybridSettings& settings) {
  check_range("hybrid_min_waiting", settings.min_waiting, 1, settings.max_threads);
}

}  // namespace poolpilot
