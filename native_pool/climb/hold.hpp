// The watch over a held size: has the workload moved away from its averaged reference?
#pragma once

#include <vector>

#include "climb/sample.hpp"
#include "climb/settings.hpp"
#include "queues/ring.hpp"

namespace poolpilot {

// One measure: the mean and variance of its reference, and its latest values.
class WatchedMeasure {
 public:
  WatchedMeasure();

  // Forgets the reference. `noise` is the relative deviation of one value, if it is known.
  void clear(double noise);

  // Only values that have stood `kExitSamples` samples unchallenged join the reference, so that
  // it never learns a change; it grows to a full window.
  void add(double value, const SpectralSettings& settings);

  // Takes a value into the latest alone.
  void add_aside(double value);

  // Forgets the latest values, not the reference.
  void forget_latest() { latest_.clear(); }

  // Relative deviation of the mean of the latest `count` values but for the `newest`.
  double latest_deviation(std::size_t count, std::size_t newest = 0) const;
  std::size_t latest() const { return latest_.size(); }

  // Relative deviation of the latest values from the reference where it exceeds
  // `kDeviation` and `kExitConfidence` standard errors; 0 otherwise. Of
  // `kExitSamples` values mean (noise) and median (outliers) must both say so, of
  // `hcm_quick_exit_samples` the mean, and every single one by half, if the noise is known or the
  // reference is full.
  double deviation(const SpectralSettings& settings);

  int samples() const { return samples_; }
  double mean() const { return mean_; }

 private:
  void absorb(double value);
  double limit(double latest) const;
  double slow_deviation();
  double quick_deviation(const SpectralSettings& settings) const;

  int samples_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
  double known_noise_ = 0.0;
  Ring<double> latest_;
  std::vector<double> sorted_;
};

enum class Departure { kNone, kThroughput, kConnections, kLatency };

class HoldWatch {
 public:
  // `noise` is the relative deviation of one throughput, 0 where it is not known.
  void clear(double noise);

  // What has left the reference, if anything. Throughput that has fallen and latency that has risen
  // must stay away for `patience` further samples: a machine that does something else for a second
  // is no other workload. The reference does not learn from those samples; where they come back
  // half way, all is as before.
  Departure add(const Sample& sample, const SpectralSettings& settings, int patience);

  // After a departure: takes a sample that the climb has measured nearby. True once both halves of
  // its latest wave have come half way back, so that it was no other workload either.
  bool came_back(const Sample& sample);

  // Forgets what has left the reference, not the reference.
  void forget_departure();

  // Whether something has left the reference and is measured again.
  bool checking() const { return suspected_ != Departure::kNone; }

  // Relative deviation that made add() report a departure.
  double deviation() const { return deviation_; }
  int samples() const { return throughput_.samples(); }
  double throughput() const { return throughput_.mean(); }

 private:
  Departure departure(const SpectralSettings& settings);
  Departure check(const Sample& sample);
  void add_aside(const Sample& sample);
  void forget_latest();
  const WatchedMeasure& measure_of(Departure departure) const;

  WatchedMeasure throughput_;
  WatchedMeasure connections_;
  WatchedMeasure latency_;
  Departure suspected_ = Departure::kNone;
  Departure departed_ = Departure::kNone;  // the last one
  int check_left_ = 0;
  double deviation_ = 0.0;
};

}  // namespace poolpilot
