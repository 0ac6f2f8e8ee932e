// The one-sided square wave on the size: where it stands and how large it is.
#pragma once

#include <cstddef>

#include "climb/bracket.hpp"
#include "climb/settings.hpp"

namespace poolpilot {

struct Wave {
  int low = 1;
  int high = 2;

  // Size at sample `index` of the window: half a period low, half a period high.
  int size_at(std::size_t index, int period) const {
    return (index / (static_cast<std::size_t>(period) / 2)) % 2 == 0 ? low : high;
  }
};

// Largest wave over size that the settings allow.
double largest_wave_share(const SpectralSettings& settings);

// Wave over size after `growths` growths: proportional to the size and large enough for the
// relative `noise` of one sample, at most largest_wave_share().
double wave_share(const SpectralSettings& settings, int growths, double noise);

// A wave from `low` up by `share` of it, at least one thread, shifted down to end at `limit`.
Wave wave_from(int low, double share, int floor, int limit);

// A wave at the two inner third points (in log size) of a bracket at least one thread wide.
Wave wave_inside(const Bracket& bracket);

// The next size on the walk left to the knee: size (0.5 + k exp(-k' size)), at least one less.
int left_of(const SpectralSettings& settings, int size);

}  // namespace poolpilot
