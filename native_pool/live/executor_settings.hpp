// What the executor of a live pool is told. What each one means stands once, in
// executor_settings.cpp.
#pragma once

#include <span>

#include "settings/setting.hpp"

namespace poolpilot {

struct ExecutorSettings {
  bool instrument = true;
  int sample_every = 16;
  double latch_timeout_s = 5.0;
  int sample_pause_us = 2'000;

  static std::span<const SettingField<ExecutorSettings>> fields();
};

}  // namespace poolpilot
