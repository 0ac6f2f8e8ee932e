#include "climb/settings.hpp"

#include <limits>
#include <sstream>
#include <stdexcept>

namespace poolpilot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require(const char* name, double value, double low, double high) {
  if (value >= low && value <= high && value < kInfinity) return;
  std::ostringstream text;
  text << "setting " << name << " is " << value << ", but must be ";
  if (high < kInfinity) {
    text << "in " << low << ".." << high;
  } else {
    text << "a finite number, at least " << low;
  }
  throw std::invalid_argument(text.str());
}

void require_wave(const SpectralSettings& s) {
  require("wave_period", s.wave_period, 4, 64);
  if (s.wave_period % 2 != 0) {
    throw std::invalid_argument("setting wave_period is " + std::to_string(s.wave_period) +
                                ", but must be an even number in 4..64");
  }
  require("samples_to_wave_period_ratio", s.samples_to_wave_period_ratio, 2, 64);
  require("min_periods_to_decide", s.min_periods_to_decide, 2, s.samples_to_wave_period_ratio);
  require("settle_samples", s.settle_samples, 0, 64);
  require("hcm_reference_size", s.hcm_reference_size, 1, kInfinity);
  require("hcm_min_thread_wave_magnitude", s.hcm_min_thread_wave_magnitude, 1,
          s.hcm_max_thread_wave_magnitude);
  require("hcm_max_thread_wave_magnitude", s.hcm_max_thread_wave_magnitude, 1, kInfinity);
  require("wave_magnitude_growth", s.wave_magnitude_growth, 1.1, 10);
  require("wave_noise_multiplier", s.wave_noise_multiplier, 0, 100);
}

void require_moves(const SpectralSettings& s) {
  require("price_of_thread", s.price_of_thread, 0, 1);
  require("confidence", s.confidence, 0.5, 10);
  require("hcm_ccs_valuable_progress", s.hcm_ccs_valuable_progress, 0.001, 10);
  require("hcm_eps", s.hcm_eps, 0, kInfinity);
  require("hcm_step_gain", s.hcm_step_gain, 0.01, 100);
  require("hcm_max_step_ratio", s.hcm_max_step_ratio, 1.1, 16);
  require("hcm_plateau_factor", s.hcm_plateau_factor, 0, 0.49);
  require("hcm_plateau_decay", s.hcm_plateau_decay, 0, 1);
}

void require_watch(const SpectralSettings& s) {
  require("hcm_valuable_diff", s.hcm_valuable_diff, 0.01, 10);
  require("hcm_reference_samples", s.hcm_reference_samples, 2,
          static_cast<double>(s.full_window()));
  require("hcm_exit_samples", s.hcm_exit_samples, 1, 1000);
  require("hcm_exit_confidence", s.hcm_exit_confidence, 0, 100);
  require("hcm_steep_decline", s.hcm_steep_decline, 0.1, 1);
  require("hcm_false_optimized_excess", s.hcm_false_optimized_excess, 0, kInfinity);
  require("hcm_false_jump_ratio", s.hcm_false_jump_ratio, 0, 1);
  require("min_accepted_throughput", s.min_accepted_throughput, 0, kInfinity);
  require("log_limit", s.log_limit, 1, 1e6);
}

}  // namespace

void SpectralSettings::validate() const {
  require_wave(*this);
  require_moves(*this);
  require_watch(*this);
}

}  // namespace poolpilot
