#include "climb/hold.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace poolpilot {
namespace {

// Part of a deviation that may be left where what has left its reference counts as back.
constexpr double kHalfWay = 0.5;

// Samples of the reference that a quick exit needs where the climb has measured the noise: their
// mean is then half as sure as that of a whole reference.
constexpr int kQuickReferenceSamples = 4;

// Samples that the reference grows to.
int most_samples(const SpectralSettings& settings) {
  return std::max(settings.full_window(), kReferenceSamples);
}

double median_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return std::midpoint(values[(values.size() - 1) / 2], values[values.size() / 2]);
}

}  // namespace

WatchedMeasure::WatchedMeasure() {
  latest_.reserve(kExitSamples + 1);
  sorted_.reserve(kExitSamples);
}

void WatchedMeasure::clear(double noise) {
  samples_ = 0;
  mean_ = squares_ = 0.0;
  known_noise_ = noise;
  latest_.clear();
}

void WatchedMeasure::add(double value, const SpectralSettings& settings) {
  latest_.push_back(value);
  if (std::cmp_less_equal(latest_.size(), kExitSamples)) return;
  if (samples_ < most_samples(settings)) absorb(latest_.front());
  latest_.pop_front();
}

void WatchedMeasure::add_aside(double value) {
  latest_.push_back(value);
  if (std::cmp_greater(latest_.size(), kExitSamples)) latest_.pop_front();
}

double WatchedMeasure::latest_deviation(std::size_t count, std::size_t newest) const {
  const std::size_t end = latest_.size() - newest;
  const std::size_t taken = std::min(count, end);
  double sum = 0.0;
  for (std::size_t i = end - taken; i < end; ++i) sum += latest_[i];
  return sum / static_cast<double>(taken) / mean_ - 1.0;
}

double WatchedMeasure::deviation(const SpectralSettings& settings) {
  if (samples_ < 2 || mean_ <= 0.0) return 0.0;
  const double quick = quick_deviation(settings);
  return quick != 0.0 ? quick : slow_deviation();
}

double WatchedMeasure::limit(double latest) const {
  // Few degrees of freedom widen it, as Student's t does.
  const double freedom = samples_ - 1;
  const double seen = std::sqrt(squares_ / freedom * (1.0 + 4.0 / freedom)) / mean_;
  const double noise = std::max(seen, known_noise_);
  const double error = noise * std::sqrt(1.0 / latest + 1.0 / samples_);
  return std::max(kDeviation, kExitConfidence * error);
}

double WatchedMeasure::slow_deviation() {
  if (std::cmp_less(latest_.size(), kExitSamples)) return 0.0;
  if (samples_ < kReferenceSamples) return 0.0;
  sorted_.clear();
  double sum = 0.0;
  for (std::size_t i = 0; i < latest_.size(); ++i) {
    sorted_.push_back(latest_[i]);
    sum += latest_[i];
  }
  const auto latest = static_cast<double>(latest_.size());
  const double mean = sum / latest / mean_ - 1.0;
  const double median = median_of(sorted_) / mean_ - 1.0;
  if (mean * median <= 0.0) return 0.0;
  return std::min(std::abs(mean), std::abs(median)) > limit(latest) ? mean : 0.0;
}

double WatchedMeasure::quick_deviation(const SpectralSettings& settings) const {
  const auto wanted = static_cast<std::size_t>(settings.hcm_quick_exit_samples);
  const int needed_samples = known_noise_ > 0.0 ? kQuickReferenceSamples : most_samples(settings);
  if (wanted == 0 || latest_.size() < wanted || samples_ < needed_samples) return 0.0;
  double sum = 0.0;
  double least = latest_.back();
  double greatest = least;
  for (std::size_t i = latest_.size() - wanted; i < latest_.size(); ++i) {
    sum += latest_[i];
    least = std::min(least, latest_[i]);
    greatest = std::max(greatest, latest_[i]);
  }
  const auto latest = static_cast<double>(wanted);
  const double mean = sum / latest / mean_ - 1.0;
  const double nearest = (mean > 0.0 ? least : greatest) / mean_ - 1.0;
  const double needed = limit(latest);
  return std::abs(mean) > needed && nearest * mean > 0.0 && std::abs(nearest) > needed / 2.0 ? mean
                                                                                             : 0.0;
}

void WatchedMeasure::absorb(double value) {
  ++samples_;
  const double before = value - mean_;
  mean_ += before / samples_;
  squares_ += before * (value - mean_);
}

void HoldWatch::clear(double noise) {
  throughput_.clear(noise);
  connections_.clear(0.0);
  latency_.clear(0.0);
  suspected_ = departed_ = Departure::kNone;
}

Departure HoldWatch::add(const Sample& sample, const SpectralSettings& settings, int patience) {
  if (checking()) return check(sample);
  throughput_.add(sample.throughput, settings);
  connections_.add(sample.connections, settings);
  latency_.add(sample.latency_s, settings);
  const Departure seen = departure(settings);
  const bool better = seen == Departure::kThroughput ? deviation_ > 0.0 : deviation_ < 0.0;
  if (seen == Departure::kNone || seen == Departure::kConnections || better || patience == 0) {
    return seen;
  }
  suspected_ = seen;
  check_left_ = patience;
  return Departure::kNone;
}

Departure HoldWatch::departure(const SpectralSettings& settings) {
  deviation_ = throughput_.deviation(settings);
  if (deviation_ != 0.0) return Departure::kThroughput;
  deviation_ = connections_.deviation(settings);
  if (deviation_ != 0.0) return Departure::kConnections;
  deviation_ = latency_.deviation(settings);
  return deviation_ != 0.0 ? Departure::kLatency : Departure::kNone;
}

Departure HoldWatch::check(const Sample& sample) {
  add_aside(sample);
  constexpr std::size_t kLatest = 2;
  if (measure_of(suspected_).latest_deviation(kLatest) / deviation_ < kHalfWay) {
    forget_departure();
    return Departure::kNone;
  }
  if (--check_left_ > 0) return Departure::kNone;
  forget_latest();
  departed_ = suspected_;
  return std::exchange(suspected_, Departure::kNone);
}

bool HoldWatch::came_back(const Sample& sample) {
  if (departed_ == Departure::kNone) return false;
  add_aside(sample);
  const WatchedMeasure& measure = measure_of(departed_);
  constexpr std::size_t half = kWavePeriod / 2;
  if (measure.latest() < 2 * half) return false;
  const auto back = [&](std::size_t newest) {
    return measure.latest_deviation(half, newest) / deviation_ < kHalfWay;
  };
  return back(0) && back(half);
}

void HoldWatch::forget_departure() {
  suspected_ = departed_ = Departure::kNone;
  deviation_ = 0.0;
  forget_latest();
}

void HoldWatch::add_aside(const Sample& sample) {
  throughput_.add_aside(sample.throughput);
  connections_.add_aside(sample.connections);
  latency_.add_aside(sample.latency_s);
}

void HoldWatch::forget_latest() {
  throughput_.forget_latest();
  connections_.forget_latest();
  latency_.forget_latest();
}

const WatchedMeasure& HoldWatch::measure_of(Departure departure) const {
  return departure == Departure::kLatency ? latency_ : throughput_;
}

}  // namespace poolpilot
