// Puts a number into the member that a row of a settings table stands for.
#pragma once

#include <type_traits>
#include <variant>

#include "settings/setting.hpp"

namespace poolpilot {

// A choice takes the number as the place of its value.
template <typename Settings>
void put_number(Settings& settings, const SettingField<Settings>& field, double number) {
  std::visit(
      [&](const auto& at) {
        if constexpr (requires { at.names; }) {
          at.choose(settings, static_cast<std::size_t>(number));
        } else {
          settings.*at = static_cast<std::remove_reference_t<decltype(settings.*at)>>(number);
        }
      },
      field.member);
}

}  // namespace poolpilot
