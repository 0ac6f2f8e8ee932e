#include "climb/wave.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {
namespace {

// First wave over size, in relative noise of one sample: a window of 32 samples then tells an
// elasticity to within 0.06.
constexpr double kWaveOverNoise = 6.0;

// The walk on a plateau: small pools lose a seventh, large ones half.
constexpr double kPlateauFactor = 0.36;
constexpr double kPlateauDecay = 0.018;

// Threads that a setting in threads means at `size`.
double threads_at(const SpectralSettings& settings, double threads, int size) {
  return settings.trubs_method ? threads : threads / kReferenceSize * size;
}

int whole(double threads) {
  constexpr double kMost = 1e9;
  return static_cast<int>(std::lround(std::clamp(threads, 1.0, kMost)));
}

}  // namespace

int largest_wave(const SpectralSettings& settings, int size) {
  return whole(threads_at(settings, kLargestWave, size));
}

int wave_threads(const SpectralSettings& settings, int size, int growths, double noise) {
  double first = threads_at(settings, settings.hcm_min_thread_wave_magnitude, size);
  if (!settings.trubs_method) {
    first = std::max(first, kWaveOverNoise * noise * size);
  }
  const int grown = whole(first * std::pow(kWaveGrowth, growths));
  return std::min(std::max(grown, growths + 1), largest_wave(settings, size));
}

Wave wave_from(int low, int threads, int room, SizeLimits limits) {
  const int base = std::max(limits.min, std::min(low, limits.max - std::min(room, threads)));
  return {.low = base, .high = threads < limits.max - base ? base + threads : limits.max};
}

Wave wave_around(int size, int bracket_low, int bracket_high, int threads, double share) {
  const double part = std::pow(static_cast<double>(bracket_high) / bracket_low, share);
  const double widest = 1.0 + static_cast<double>(threads) / size;
  const double half = std::sqrt(std::min(part, widest));
  const auto inside = [&](double wanted) {
    return std::clamp(static_cast<int>(std::lround(wanted)), bracket_low, bracket_high);
  };
  Wave wave{.low = inside(size / half), .high = inside(size * half)};
  if (wave.low < wave.high) return wave;
  if (wave.high < bracket_high) {
    ++wave.high;
  } else {
    --wave.low;
  }
  return wave;
}

int left_of(int size) {
  const double share = 0.5 + kPlateauFactor * std::exp(-kPlateauDecay * size);
  return std::max(1, std::min(size - 1, static_cast<int>(std::lround(size * share))));
}

}  // namespace poolpilot
