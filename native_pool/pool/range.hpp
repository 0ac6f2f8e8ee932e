// Refuses a setting outside its range.
#pragma once

#include <sstream>
#include <stdexcept>

namespace poolpilot {

// Throws std::invalid_argument with the name, the value and the range.
template <typename T>
void check_range(const char* name, T value, T low, T high) {
  if (value >= low && value <= high) return;  // false for NaN
  std::ostringstream text;
  text << name << " = " << value << " is outside its range " << low << ".." << high;
  throw std::invalid_argument(text.str());
}

}  // namespace poolpilot
