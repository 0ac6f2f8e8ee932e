// Settings of the spectral climber, under the names and defaults of the adaptive pool article.
#pragma once

#include <cstddef>

namespace poolpilot {

struct SpectralSettings {
  int wave_period = 4;                   // samples in one period of the wave on the size; even
  int samples_to_wave_period_ratio = 8;  // periods in a full window: 4 x 8 = 32 samples
  int min_periods_to_decide = 2;         // periods after which a clear trend may be acted upon
  int settle_samples = 1;                // samples dropped after the base size has moved
  double price_of_thread = 0.02;         // e in the objective ln(throughput) - e ln(size)
  double confidence = 2.0;               // standard errors that make a trend, or its absence, sure
  double hcm_ccs_valuable_progress = 0.2;  // accumulated ratio above e that moves the size
  double hcm_reference_size = 72.0;        // size for which the four settings in threads are meant
  double hcm_min_thread_wave_magnitude = 10.0;  // first wave, threads at the reference size
  double hcm_max_thread_wave_magnitude = 80.0;  // last wave, threads at the reference size
  double wave_magnitude_growth = 2.0;           // factor on the wave when it shows no trend
  double wave_noise_multiplier = 6.0;  // first wave over size, in relative noise of one sample
  double hcm_eps = 5.0;                // bracket that counts as found, at the reference size
  double hcm_step_gain = 2.0;          // first ln(new size / size) per unit of ratio above e
  double hcm_max_step_ratio = 2.0;     // largest factor by which one move changes the size
  double hcm_plateau_factor = 0.36;    // k of the walk left: size (0.5 + k exp(-k' size))
  double hcm_plateau_decay = 0.018;    // k' of the walk left, per thread
  double hcm_valuable_diff = 0.2;      // relative deviation that means another workload (20 %)
  int hcm_reference_samples = 16;      // samples averaged before a held size is judged
  int hcm_exit_samples = 8;            // latest samples compared with the reference
  double hcm_exit_confidence = 5.0;    // standard errors a deviation must exceed as well
  double hcm_steep_decline = 0.8;      // relative fall below the last period that is unnatural
  double hcm_false_optimized_excess = 20.0;  // size minus connections that is no optimum
  double hcm_false_jump_ratio = 0.2;         // connections over size under which a jump is refused
  double min_accepted_throughput = 300.0;    // requests per second under which the climb pauses
  int log_limit = 1000;                      // latest decisions kept in the log

  // Throws std::invalid_argument with the setting's name, its value and the range it must be in.
  void validate() const;

  std::size_t full_window() const {
    return static_cast<std::size_t>(wave_period) *
           static_cast<std::size_t>(samples_to_wave_period_ratio);
  }
};

}  // namespace poolpilot
