// Settings of the spectral climber, under the names and defaults of Trub (adaptive pool;
// docs/references.md) where these exist. What each one means stands once, in settings.cpp; what is
// no setting, in constants.hpp.
#pragma once

#include <span>

#include "climb/constants.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

struct SpectralSettings {
  bool hcm_hillclimbing_enabled = false;
  bool hcm_log_enabled = false;
  int log_limit = 1000;
  int samples_to_wave_period_ratio = 8;
  double hcm_period = 2.0;
  double hcm_min_period = 0.1;
  double min_accepted_throughput = 300.0;
  double hcm_min_thread_wave_magnitude = 10.0;
  double price_of_thread = 0.02;
  double confidence = 1.5;
  int scan_rounds = 192;
  double scan_worth = 0.02;
  bool verify_warm_start = true;
  double hcm_hiccup = 0.3;
  int hcm_quick_exit_samples = 2;
  bool trubs_method = false;

  static std::span<const SettingField<SpectralSettings>> fields();

  // Throws std::invalid_argument naming the first setting that is out of its range or contradicts
  // another one.
  void validate() const;

  // These settings, once validate() has passed.
  const SpectralSettings& validated() const {
    validate();
    return *this;
  }

  // Trub's method with a fixed interval, no price, no scan, and none of the looks that are ours.
  static SpectralSettings article();

  int full_window() const { return kWavePeriod * samples_to_wave_period_ratio; }
};

}  // namespace poolpilot
