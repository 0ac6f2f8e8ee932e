#include "climb/baselines/vegas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace poolpilot {
namespace {

constexpr int kWarmUp = 10;
constexpr int kSmoothed = 5;

int log_of(int size) { return std::max(1, static_cast<int>(std::log10(size))); }

}  // namespace

VegasClimber::VegasClimber(const VegasSettings& settings, int initial_size, SizeLimits limits)
    : Climber(initial_size, limits),
      settings_(settings),
      recent_s_(kSmoothed, kWarmUp),
      baseline_s_(settings.baseline_window, kWarmUp),
      throughput_(settings.correlation_window, kWarmUp),
      latency_(settings.correlation_window, kWarmUp) {
  settings.validate();
}

std::span<const SettingField<VegasSettings>> VegasSettings::fields() {
  using Settings = VegasSettings;
  static const SettingField<Settings> kFields[] = {
      {&Settings::alpha, "alpha", "requests", 0, 1000,
       "Grows while fewer wait inside, times the logarithm of the limit."},
      {&Settings::beta, "beta", "requests", 0, 1000,
       "Shrinks while more wait inside, times the logarithm of the limit; at least alpha."},
      {&Settings::max_limit_factor, "max_limit_factor", "factor", 1, 1000,
       "Largest limit, as a multiple of those inside."},
      {&Settings::baseline_window, "baseline_window", "windows", 1, 100'000,
       "Windows that the baseline of latency remembers."},
      {&Settings::correlation_window, "correlation_window", "windows", 2, 100'000,
       "Windows over which those inside are correlated with throughput and latency."},
      {&Settings::least_requests, "least_requests", "requests", 1, 1'000'000,
       "A window with fewer goes on with the next sample."},
      {&Settings::interval_s, "interval_s", "seconds", 0.001, 3600, "Length of a sample."}};
  return kFields;
}

void VegasSettings::validate() const {
  require_ranges(*this);
  if (beta < alpha)
    refuse_setting("beta", beta, "at least alpha, which is " + std::to_string(alpha));
}

int VegasClimber::next(const Sample& sample) {
  const double seconds = sample.duration_s > 0.0 ? sample.duration_s : settings_.interval_s;
  const double requests = sample.throughput * seconds;
  window_.requests += requests;
  window_.latency_s += sample.latency_s * requests;
  window_.inside = std::max(window_.inside, in_system_of(sample));
  reason_ = VegasReason::kTooFewRequests;
  if (window_.requests < settings_.least_requests || window_.latency_s <= 0.0) return sample.size;
  const Window window = std::exchange(window_, Window());
  const double latency_s = window.latency_s / window.requests;
  if (!std::isfinite(latency_s)) return sample.size;
  const double recent_s = recent_s_.add(median_of_last(latency_s));
  const double baseline_s = baseline_s_.add(recent_s);
  const double step = log_of(sample.size);
  double size = sample.size;
  reason_ = evaluate_weights(window.inside, recent_s, baseline_s, sample.size);
  if (reason_ == VegasReason::kShortQueue) {
    size += step;
  } else if (reason_ != VegasReason::kBetween) {
    size -= step;
  }
  if (size > window.inside * settings_.max_limit_factor) {
    reason_ = VegasReason::kFarFromFull;
    size = sample.size - step;
  }
  return static_cast<int>(std::clamp<double>(size, limits().min, limits().max));
}

// The value itself until there are as many as the median wants.
double VegasClimber::median_of_last(double latency_s) {
  latencies_s_.push_back(latency_s);
  if (latencies_s_.size() > kSmoothed) latencies_s_.pop_front();
  if (latencies_s_.size() < kSmoothed) return latency_s;
  std::array<double, kSmoothed> sorted;
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = latencies_s_[i];
  std::ranges::sort(sorted);
  return sorted[kSmoothed / 2];
}

VegasReason VegasClimber::evaluate_weights(double inside, double recent_s, double baseline_s,
                                           int size) {
  const double queue = std::ceil(size * (1.0 - baseline_s / recent_s));
  const Correlation throughput = throughput_.add(inside, inside / recent_s);
  const Correlation latency = latency_.add(inside, recent_s);
  const bool full = inside > size - 0.5;
  const bool latency_rises = latency.coefficient > 0.5;
  const double log_size = log_of(size);
  if (queue > settings_.beta * log_size) return VegasReason::kLongQueue;
  if (full && throughput.coefficient < 0.0) return VegasReason::kThroughputFalls;
  if (full && latency_rises && throughput.coefficient < 0.3) return VegasReason::kOnlyLatencyRises;
  if (full && latency_rises && throughput.variation_y < 0.2) return VegasReason::kThroughputIsLevel;
  if (queue < settings_.alpha * log_size) return VegasReason::kShortQueue;
  return VegasReason::kBetween;
}

}  // namespace poolpilot
