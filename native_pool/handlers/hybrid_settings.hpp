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

// Of settings within their ranges: throws std::invalid_argument where more threads are to wait than
// there may be.
void check(const HybridSettings& settings);

}  // namespace poolpilot
