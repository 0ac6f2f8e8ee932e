// One setting: its name, what it means and what it may be. Bindings, checks and the tables in the
// documentation all read the same lists.
//
// A struct of settings lists its own fields in `fields()`. One that has a base or members with
// fields of their own lists these in `parts()`, by BasePart or a pointer to the member; a name
// stands for one field of the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "settings/range.hpp"

namespace poolpilot {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// A member that is an enumeration, with the names of its values in their order.
template <typename Settings>
struct SettingChoice {
  std::span<const char* const> names;
  std::size_t (*chosen)(const Settings&);
  void (*choose)(Settings&, std::size_t);
};

template <typename Settings>
struct SettingField {
  std::variant<bool Settings::*, int Settings::*, double Settings::*, SettingChoice<Settings>>
      member;
  const char* name;
  const char* unit;
  double low;   // smallest value allowed
  double high;  // largest value allowed; kUnbounded: any finite one
  const char* effect;

  double value_in(const Settings& settings) const {
    return std::visit(
        [&](const auto& at) {
          if constexpr (requires { at.names; }) {
            return static_cast<double>(at.chosen(settings));
          } else {
            return static_cast<double>(settings.*at);
          }
        },
        member);
  }
};

// The row of a member that is an enumeration.
template <typename Settings, auto kMember>
constexpr SettingField<Settings> choice_field(std::span<const char* const> names, const char* name,
                                              const char* effect) {
  using Value = std::remove_reference_t<decltype(std::declval<Settings&>().*kMember)>;
  const SettingChoice<Settings> choice{
      names, [](const Settings& settings) { return static_cast<std::size_t>(settings.*kMember); },
      [](Settings& settings, std::size_t index) { settings.*kMember = static_cast<Value>(index); }};
  return {choice, name, "name", 0, static_cast<double>(names.size() - 1), effect};
}

// Place of `wanted` among the names. Throws std::invalid_argument where it is none of them.
inline std::size_t index_named(std::string_view setting, std::span<const char* const> names,
                               std::string_view wanted) {
  const auto found = std::ranges::find(names, wanted);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (const char* name : names) known += (known.empty() ? "one of " : ", ") + std::string(name);
  refuse_setting(setting, "'" + std::string(wanted) + "'", known);
}

// The base of a settings struct, as one of its parts.
template <typename Settings>
struct BasePart {
  Settings& operator()(Settings& settings) const { return settings; }
  const Settings& operator()(const Settings& settings) const { return settings; }
  const Settings& operator()(const Settings&&) const = delete;  // it would outlive its whole
};

// Calls `visit(part, field)` for every field: the settings' own, then those of each part.
template <typename Settings, typename Visit>
void for_each_field(Settings& settings, const Visit& visit) {
  using Listed = std::remove_const_t<Settings>;
  for (const SettingField<Listed>& field : Listed::fields()) visit(settings, field);
  if constexpr (requires { Listed::parts(); }) {
    std::apply([&](auto... part) { (for_each_field(std::invoke(part, settings), visit), ...); },
               Listed::parts());
  }
}

// Throws std::invalid_argument with the name, the value and the range of the first setting that is
// out of its range or not finite.
template <typename Settings>
void require_ranges(const Settings& settings) {
  for_each_field(settings, [](const auto& part, const auto& field) {
    check_range(field.name, field.value_in(part), field.low, field.high);
  });
}

}  // namespace poolpilot
