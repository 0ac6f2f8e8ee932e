// The watch over a held size: has the workload moved away from its averaged reference?
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "climb/sample.hpp"
#include "climb/settings.hpp"

namespace poolpilot {

// One measure: the mean and variance of its reference, and its latest values.
class WatchedMeasure {
 public:
  // Relative deviation of the latest values from the reference when both their mean (noise) and
  // their median (outliers) say that it is larger than `hcm_valuable_diff` and than
  // `hcm_exit_confidence` standard errors; 0 otherwise.
  double deviation(const SpectralSettings& settings) const;

  // The reference is `hcm_reference_samples` values, and grows to a full window of undisturbed
  // ones.
  void add(double value, const SpectralSettings& settings);
  int samples() const { return samples_; }
  double mean() const { return mean_; }

 private:
  void absorb(double value);

  int samples_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
  std::deque<double> latest_;
};

enum class Departure { kNone, kThroughput, kConnections, kLatency };

class HoldWatch {
 public:
  // What has left the reference with this sample, if anything.
  Departure add(const Sample& sample, const SpectralSettings& settings);

  // Relative deviation that made add() report a departure.
  double deviation() const { return deviation_; }
  int samples() const { return throughput_.samples(); }
  double throughput() const { return throughput_.mean(); }

 private:
  WatchedMeasure throughput_;
  WatchedMeasure connections_;
  WatchedMeasure latency_;
  double deviation_ = 0.0;
};

}  // namespace poolpilot
