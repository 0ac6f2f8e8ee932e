// Settings with tables of their fields as Python sees them: keywords in, attributes and the tables
// out.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "settings/setting.hpp"

namespace poolpilot {

namespace py = pybind11;

inline constexpr const char* kFieldsText =
    "Name, default, unit, range and effect of every setting.";

template <typename Value>
Value cast_setting(const char* name, py::handle value) {
  try {
    return value.cast<Value>();
  } catch (const py::cast_error&) {
    const char* kind = std::is_same_v<Value, bool>     ? "true or false"
                       : std::is_same_v<Value, int>    ? "an integer of 32 bits"
                       : std::is_same_v<Value, double> ? "a number"
                                                       : "a name";
    throw py::type_error(std::string(name) + " must be " + kind);
  }
}

template <typename Settings>
void assign_field(Settings& settings, const SettingField<Settings>& field, py::handle value) {
  std::visit(
      [&](const auto& at) {
        if constexpr (requires { at.names; }) {
          const auto wanted = cast_setting<std::string>(field.name, value);
          at.choose(settings, index_named(field.name, at.names, wanted));
        } else {
          using Value = std::remove_reference_t<decltype(settings.*at)>;
          settings.*at = cast_setting<Value>(field.name, value);
        }
      },
      field.member);
}

template <typename Settings>
py::object field_value(const Settings& settings, const SettingField<Settings>& field) {
  return std::visit(
      [&](const auto& at) -> py::object {
        if constexpr (requires { at.names; }) {
          return py::str(at.names[at.chosen(settings)]);
        } else {
          return py::cast(settings.*at);
        }
      },
      field.member);
}

// Ranges are checked by who takes the settings.
template <typename Settings>
Settings settings_with(Settings settings, const py::dict& values) {
  for (const auto& [key, value] : values) {
    const auto name = key.template cast<std::string>();
    bool known = false;
    for_each_field(settings, [&](auto& part, const auto& field) {
      if (name != field.name) return;
      assign_field(part, field, value);
      known = true;
    });
    if (!known) throw py::type_error("there is no setting named '" + name + "'");
  }
  return settings;
}

template <typename Settings>
py::dict settings_as_dict(const Settings& settings) {
  py::dict values;
  for_each_field(settings, [&](const auto& part, const auto& field) {
    values[field.name] = field_value(part, field);
  });
  return values;
}

// What the value may be: a range, or of a choice its names.
template <typename Settings>
void put_allowed(py::dict& row, const SettingField<Settings>& field) {
  if (const auto* choice = std::get_if<SettingChoice<Settings>>(&field.member)) {
    row["names"] = std::vector<std::string>(choice->names.begin(), choice->names.end());
  } else {
    row["low"] = field.low;
    row["high"] = field.high;
  }
}

template <typename Settings>
py::list setting_table() {
  using namespace py::literals;
  py::list table;
  const Settings defaults;
  for_each_field(defaults, [&](const auto& part, const auto& field) {
    py::dict row("name"_a = field.name, "default"_a = field_value(part, field),
                 "unit"_a = field.unit, "effect"_a = field.effect);
    put_allowed(row, field);
    table.append(row);
  });
  return table;
}

template <typename Settings>
py::class_<Settings> bind_settings(py::module_& module, const char* name, const char* description) {
  py::class_<Settings> bound(module, name, description);
  const auto checked = [](const Settings& settings, const py::kwargs& values) {
    const Settings changed = settings_with(settings, values);
    changed.validate();
    return changed;
  };
  bound.def(py::init([checked](const py::kwargs& values) { return checked(Settings(), values); }))
      .def("replaced", checked, "The same settings but for those named.")
      .def("__getattr__",
           [](const Settings& settings, const std::string& wanted) {
             const py::dict values = settings_as_dict(settings);
             if (!values.contains(wanted)) {
               throw py::attribute_error("there is no setting named '" + wanted + "'");
             }
             return py::object(values[wanted.c_str()]);
           })
      .def("as_dict", &settings_as_dict<Settings>, "All settings by name.")
      .def_static("fields", &setting_table<Settings>, kFieldsText);
  return bound;
}

}  // namespace poolpilot
