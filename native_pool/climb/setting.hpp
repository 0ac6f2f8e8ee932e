// One setting of a climber: its name, what it means and what it may be. Bindings, checks and the
// table in the documentation all read the same list.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

namespace poolpilot {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

template <typename Settings>
struct SettingField {
  std::variant<bool Settings::*, int Settings::*, double Settings::*> member;
  const char* name;
  const char* unit;
  double low;   // smallest value allowed
  double high;  // largest value allowed; kUnbounded: any finite one
  const char* effect;

  double value_in(const Settings& settings) const {
    return std::visit([&](auto at) { return static_cast<double>(settings.*at); }, member);
  }
};

inline void refuse_setting(const char* name, double value, const std::string& allowed) {
  std::ostringstream text;
  text << "setting " << name << " is " << value << ", but must be " << allowed;
  throw std::invalid_argument(text.str());
}

// Throws std::invalid_argument with the name, the value and the range of the first setting that is
// out of its range or not finite.
template <typename Settings>
void require_ranges(const Settings& settings, std::span<const SettingField<Settings>> fields) {
  for (const SettingField<Settings>& field : fields) {
    const double value = field.value_in(settings);
    if (value >= field.low && value <= field.high && std::isfinite(value)) continue;
    std::ostringstream allowed;
    if (field.high < kUnbounded) {
      allowed << "in " << field.low << ".." << field.high;
    } else {
      allowed << "a finite number, at least " << field.low;
    }
    refuse_setting(field.name, value, allowed.str());
  }
}

}  // namespace poolpilot
