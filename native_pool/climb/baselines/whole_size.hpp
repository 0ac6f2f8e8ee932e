// From a real-valued wish to a size that can be set.
#pragma once

#include <cmath>

#include "climb/climber.hpp"

namespace poolpilot {

// The whole size nearest to `wish` inside the limits; the smallest one when `wish` is NaN.
inline int whole_size(double wish, const SizeLimits& limits) {
  if (!(wish > limits.min)) return limits.min;
  if (wish >= limits.max) return limits.max;
  return static_cast<int>(std::lround(wish));
}

// A share of a size in whole threads, at least one.
inline double threads_of(double share, int size) {
  return std::fmax(1.0, std::round(share * size));
}

}  // namespace poolpilot
