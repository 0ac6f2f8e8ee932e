#include "climb/climber.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace poolpilot {

void SizeLimits::require(int size) const {
  if (1 <= min && min <= size && size <= max) return;
  std::ostringstream text;
  text << "sizes must satisfy 1 <= min_size <= initial_size <= max_size, but min_size is " << min
       << ", initial_size " << size << ", max_size " << max;
  throw std::invalid_argument(text.str());
}

int SizeLimits::clamp(int size) const { return std::clamp(size, min, max); }

Climber::Climber(int initial_size, SizeLimits limits) : limits_(limits), size_(initial_size) {
  limits.require(initial_size);
}

int Climber::update(const Sample& sample) {
  const Flaw flaw = flaw_of(sample, longest_s());
  if (flaw != Flaw::kNone) {
    dropped(sample, flaw);
    return size_;
  }
  Sample inside = sample;
  inside.size = limits_.clamp(sample.size);
  ask_for(next(inside));
  return size_;
}

}  // namespace poolpilot
