// The sampling interval: as short as the noise of a sample allows.
#pragma once

#include <algorithm>
#include <cmath>

#include "climb/settings.hpp"

namespace poolpilot {

// Relative noise of a sample up to which the interval is shortened: of a wave half as large as the
// size two periods then tell an elasticity to within a fifth.
inline constexpr double kPeriodNoise = 0.15;

// Samples of `period_s` seconds that span so many seconds, rounded up.
inline int samples_in(double seconds, double period_s) {
  return static_cast<int>(std::ceil(std::min(seconds / period_s, 1e6)));
}

class Period {
 public:
  double seconds(const SpectralSettings& settings) const {
    return std::clamp(seconds_, settings.hcm_min_period, settings.hcm_period);
  }

  // After a wave whose samples had this relative `noise`. Averaging over an interval twice as long
  // halves the variance of independent noise, so that one step aims at `kPeriodNoise`; it at
  // most doubles or halves the interval, since noise may be anything but independent.
  void adapt(const SpectralSettings& settings, double noise) {
    const double wanted = noise / kPeriodNoise;
    const double factor = std::clamp(wanted * wanted, 0.5, 2.0);
    seconds_ = seconds(settings) * factor;
  }

 private:
  double seconds_ = 0.0;  // below the shortest: it starts there
};

}  // namespace poolpilot
