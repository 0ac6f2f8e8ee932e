// The relative noise of one throughput sample, pooled over the windows of a climb.
#pragma once

#include <algorithm>
#include <cmath>

#include "climb/spectrum.hpp"

namespace poolpilot {

class Noise {
 public:
  // Standard error of the response's ratio: white noise of variance v gives the real part of a bin
  // the variance v / 2n. Few degrees of freedom widen it, as Student's t does.
  double standard_error(const WaveResponse& response) const {
    const Noise all = joined(response);
    const double bin = std::sqrt(all.variance_ / (2.0 * static_cast<double>(response.samples)));
    return bin / response.size_component * std::sqrt(1.0 + 4.0 / all.freedom_);
  }

  void absorb(const WaveResponse& response) { *this = joined(response); }

  bool known() const { return freedom_ > 0.0; }
  double deviation() const { return std::sqrt(variance_); }

 private:
  Noise joined(const WaveResponse& response) const {
    Noise all;
    all.variance_ = (variance_ * freedom_ + response.noise_variance * response.freedom) /
                    (freedom_ + response.freedom);
    all.freedom_ = std::min(freedom_ + response.freedom, kMemory);
    return all;
  }

  static constexpr double kMemory = 64.0;  // older windows fade, so that noise may change

  double variance_ = 0.0;
  double freedom_ = 0.0;
};

}  // namespace poolpilot
