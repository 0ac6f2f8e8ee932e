// Settings of the spectral climber, under the names and defaults of Trub (adaptive pool;
// docs/references.md) where these exist. What each one means stands once, in settings.cpp.
#pragma once

#include <span>

#include "settings/setting.hpp"

namespace poolpilot {

struct SpectralSettings {
  // Trub's.
  bool hcm_hillclimbing_enabled = false;
  bool hcm_log_enabled = false;
  int wave_period = 4;
  int samples_to_wave_period_ratio = 8;
  double hcm_period = 2.0;
  double min_accepted_throughput = 300.0;
  double hcm_eps = 5.0;
  double hcm_valuable_diff = 20.0;
  double hcm_ccs_valuable_progress = 0.2;
  double hcm_min_thread_wave_magnitude = 10.0;
  double hcm_max_thread_wave_magnitude = 80.0;

  // Better than the reference controllers: each can be switched off.
  bool relative_gain = true;
  bool wave_follows_noise = true;
  bool reset_on_forced_change = true;
  bool test_significance = true;
  double price_of_thread = 0.02;
  bool adapt_period = true;
  bool verify_warm_start = true;

  // The wave.
  double hcm_reference_size = 36.0;
  double wave_growth = 2.0;
  double wave_noise_multiplier = 6.0;
  double hcm_inner_wave = 1.0 / 3.0;
  int knob_first_growths = 1;
  int settle_samples = 1;
  double hcm_min_period = 0.1;
  double hcm_period_noise = 0.15;

  // The look round before the first wave.
  int scan_rounds = 192;
  double scan_ratio = 2.0;
  double scan_margin = 2.0;
  double scan_confidence = 2.0;
  double scan_worth = 0.02;

  // What a wave must show.
  int min_periods_to_decide = 2;
  int min_periods_known_noise = 1;
  int hcm_growth_periods = 4;
  int hcm_patience = 1;
  int hcm_plateau_periods = 1;
  double confidence = 1.5;
  double hcm_trust = 0.99;
  double hcm_flat_trust = 0.75;
  double noise_memory = 64.0;

  // The moves.
  double hcm_step_gain = 2.0;
  double hcm_max_step_ratio = 3.0;
  double hcm_plateau_factor = 0.36;
  double hcm_plateau_decay = 0.018;
  double hcm_credible = 0.8;
  double hcm_accuracy = 0.02;
  double hcm_worth = 0.01;
  double hcm_false_optimized_excess = 20.0;
  double hcm_false_jump_ratio = 0.2;
  double knob_fade = 0.25;
  double knob_step_shrink = 0.5;
  double knob_step_growth = 1.2;
  double warm_wave_share = 0.5;
  double warm_bracket = 2.0;

  // What makes it start again.
  int hcm_reference_samples = 8;
  int hcm_exit_samples = 8;
  int hcm_quick_exit_samples = 2;
  int hcm_quick_reference_samples = 4;
  double hcm_exit_confidence = 5.0;
  double hcm_hiccup = 0.3;
  double hcm_return_ratio = 2.0;
  double hcm_steep_decline = 80.0;
  int hcm_steep_samples = 2;
  int hcm_wrong_predictions = 2;
  double hcm_interpolation_ratio = 2.0;
  double hcm_clock_jump = 10.0;

  // Memory.
  int log_limit = 1000;
  int belief_points = 512;
  int curve_points = 128;

  static std::span<const SettingField<SpectralSettings>> fields();

  // Throws std::invalid_argument naming the first setting that is out of its range or contradicts
  // another one.
  void validate() const;

  // These settings, once validate() has passed.
  const SpectralSettings& validated() const {
    validate();
    return *this;
  }

  // Trub's own method: absolute waves and steps, a fixed interval, every wave believed, no
  // price, what was learnt kept when somebody else changes the size.
  static SpectralSettings article();

  int full_window() const { return wave_period * samples_to_wave_period_ratio; }
  int longest_wave() const { return full_window() * hcm_patience; }
};

}  // namespace poolpilot
