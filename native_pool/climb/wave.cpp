#include "climb/wave.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {

double largest_wave_share(const SpectralSettings& settings) {
  return settings.hcm_max_thread_wave_magnitude / settings.hcm_reference_size;
}

double wave_share(const SpectralSettings& settings, int growths, double noise) {
  const double planned = settings.hcm_min_thread_wave_magnitude / settings.hcm_reference_size;
  const double first = std::max(planned, settings.wave_noise_multiplier * noise);
  return std::min(first * std::pow(settings.wave_magnitude_growth, growths),
                  largest_wave_share(settings));
}

Wave wave_from(int low, double share, int floor, int limit) {
  const int magnitude = std::max(1, static_cast<int>(std::lround(share * low)));
  const int base = std::max(floor, std::min(low, limit - magnitude));
  return {.low = base, .high = std::min(base + magnitude, limit)};
}

Wave wave_inside(const Bracket& bracket) {
  const double low = bracket.low();
  const double third = std::cbrt(bracket.high() / low);
  return {.low = static_cast<int>(low * third),
          .high = static_cast<int>(std::ceil(low * third * third))};
}

int left_of(const SpectralSettings& settings, int size) {
  const double share =
      0.5 + settings.hcm_plateau_factor * std::exp(-settings.hcm_plateau_decay * size);
  return std::max(1, std::min(size - 1, static_cast<int>(std::lround(size * share))));
}

}  // namespace poolpilot
