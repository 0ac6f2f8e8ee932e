// The one-sided square wave on the size: where it stands and how large it is.
#pragma once

#include "climb/climber.hpp"
#include "climb/settings.hpp"

namespace poolpilot {

struct Wave {
  int low = 1;
  int high = 1;

  // Size at sample `index` of the window: half a period low, half a period high.
  int size_at(int index, int period) const { return index / (period / 2) % 2 == 0 ? low : high; }
};

// Threads of a wave from `size` up after `growths` growths, at least one: large enough for the
// relative `noise` of one sample, at most largest_wave().
int wave_threads(const SpectralSettings& settings, int size, int growths, double noise);

// Threads of the largest wave from `size` up.
int largest_wave(const SpectralSettings& settings, int size);

// A wave from `low` up by `threads`. Where the limit leaves less than `room` threads it is shifted
// down to have so many; what is beyond the limit is cut off.
Wave wave_from(int low, int threads, int room, SizeLimits limits);

// A wave around `size` inside a bracket of two sizes or more: a `share` of it, in logarithms, at
// most `threads` and at least one.
Wave wave_around(int size, int bracket_low, int bracket_high, int threads, double share);

// The next size on the walk left to the knee: size (0.5 + k exp(-k' size)), at least one less.
int left_of(int size);

}  // namespace poolpilot
