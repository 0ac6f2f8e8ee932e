#include "climb/hold.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace poolpilot {

namespace {

double mean_of(const std::deque<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(const std::deque<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return std::midpoint(sorted[(sorted.size() - 1) / 2], sorted[sorted.size() / 2]);
}

}  // namespace

double WatchedMeasure::deviation(const SpectralSettings& settings) const {
  const auto latest = static_cast<double>(latest_.size());
  if (static_cast<int>(latest_.size()) < settings.hcm_exit_samples || mean_ <= 0.0) return 0.0;
  const double mean = mean_of(latest_) / mean_ - 1.0;
  const double median = median_of(latest_) / mean_ - 1.0;
  if (mean * median <= 0.0) return 0.0;
  const double noise = std::sqrt(squares_ / (samples_ - 1)) / mean_;
  const double error = noise * std::sqrt(1.0 / latest + 1.0 / samples_);
  const double limit = std::max(settings.hcm_valuable_diff, settings.hcm_exit_confidence * error);
  return std::min(std::abs(mean), std::abs(median)) > limit ? mean : 0.0;
}

void WatchedMeasure::add(double value, const SpectralSettings& settings) {
  if (samples_ < settings.hcm_reference_samples) return absorb(value);
  latest_.push_back(value);
  if (static_cast<int>(latest_.size()) <= settings.hcm_exit_samples) return;
  if (samples_ < static_cast<int>(settings.full_window())) absorb(latest_.front());
  latest_.pop_front();
}

void WatchedMeasure::absorb(double value) {
  ++samples_;
  const double before = value - mean_;
  mean_ += before / samples_;
  squares_ += before * (value - mean_);
}

Departure HoldWatch::add(const Sample& sample, const SpectralSettings& settings) {
  throughput_.add(sample.throughput, settings);
  connections_.add(sample.connections, settings);
  latency_.add(sample.latency_s, settings);
  deviation_ = throughput_.deviation(settings);
  if (deviation_ != 0.0) return Departure::kThroughput;
  deviation_ = connections_.deviation(settings);
  if (deviation_ != 0.0) return Departure::kConnections;
  deviation_ = latency_.deviation(settings);
  return deviation_ != 0.0 ? Departure::kLatency : Departure::kNone;
}

}  // namespace poolpilot
