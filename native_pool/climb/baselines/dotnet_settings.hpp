// Settings of .NET's hill climbing, with .NET's defaults.
#pragma once

#include <span>

#include "settings/setting.hpp"

namespace poolpilot {

struct DotnetSettings {
  int wave_period = 4;
  int wave_history_size = 8;
  int max_wave_magnitude = 20;
  double wave_magnitude_multiplier = 1.0;
  double bias = 0.15;
  double target_signal_to_noise_ratio = 3.0;
  double max_change_per_second = 4.0;
  double max_change_per_sample = 20.0;
  int sample_interval_low_ms = 10;
  int sample_interval_high_ms = 200;
  double error_smoothing_factor = 0.01;
  double gain_exponent = 2.0;
  double max_sample_error = 0.15;
  int seed = 1;

  static std::span<const SettingField<DotnetSettings>> fields();

  // Throws std::invalid_argument on a value out of its range, an odd wave period, or a low sample
  // interval above the high one.
  void validate() const;
};

}  // namespace poolpilot
