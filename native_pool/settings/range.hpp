// The one sentence by which a value is refused.
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace poolpilot {

inline constexpr int kShownDigits = 10;  // so that a limit of millions is written out

// Throws std::invalid_argument with the name, the value and what is allowed.
template <typename Value>
[[noreturn]] void refuse_setting(std::string_view name, const Value& value,
                                 std::string_view allowed) {
  std::ostringstream text;
  text.precision(kShownDigits);
  text << name << " is " << value << ", but must be " << allowed;
  throw std::invalid_argument(text.str());
}

// Refuses a value that is outside its range or not finite; an infinite `high` is no limit.
template <typename Number>
void check_range(std::string_view name, Number value, double low, double high) {
  const auto number = static_cast<double>(value);
  if (number >= low && number <= high && std::isfinite(number)) return;  // false for NaN
  std::ostringstream allowed;
  allowed.precision(kShownDigits);
  if (std::isfinite(high)) {
    allowed << "in " << low << ".." << high;
  } else {
    allowed << "a finite number, at least " << low;
  }
  refuse_setting(name, value, allowed.str());
}

}  // namespace poolpilot
