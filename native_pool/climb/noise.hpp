// The relative noise of one throughput sample, pooled over the waves of a climb.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace poolpilot {

class Noise {
 public:
  bool known() const { return freedom_ > 0.0; }
  double deviation() const { return std::sqrt(variance_); }

  // Few degrees of freedom widen it, as Student's t does.
  double cautious() const {
    if (!known()) return std::numeric_limits<double>::infinity();
    return std::sqrt(variance_ * (1.0 + 4.0 / freedom_));
  }

  // Joined by a variance measured with `freedom` degrees of freedom; older ones fade beyond
  // `memory`, so that the noise may change.
  Noise with(double variance, double freedom, double memory) const {
    Noise joined;
    if (freedom_ + freedom <= 0.0) return joined;
    joined.variance_ = (variance_ * freedom_ + variance * freedom) / (freedom_ + freedom);
    joined.freedom_ = std::min(freedom_ + freedom, memory);
    return joined;
  }

  // Standard error of the ratio of a wave of `samples` samples whose size harmonic is
  // `size_component` of the mean size: white noise of variance v gives the real part of a bin the
  // variance v / 2n. Few degrees of freedom widen it, as Student's t does.
  double ratio_error(double samples, double size_component) const {
    return cautious() / std::sqrt(2.0 * samples) / size_component;
  }

 private:
  double variance_ = 0.0;
  double freedom_ = 0.0;
};

// Probability that a slope is above 0, given its measured value and its standard error; a single
// measurement is believed up to `trust`.
inline double rising_probability(double slope, double error, double trust) {
  double rising = slope > 0.0 ? 1.0 : 0.0;
  if (error > 0.0) rising = 0.5 * std::erfc(-slope / error / std::numbers::sqrt2);
  return std::clamp(rising, 1.0 - trust, trust);
}

}  // namespace poolpilot
