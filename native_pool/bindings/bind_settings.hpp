// A settings struct with a field table as a Python class: keywords in, attributes and the table
// out.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <type_traits>
#include <variant>

#include "climb/setting.hpp"

namespace poolpilot {

namespace py = pybind11;

template <typename Settings>
void assign_setting(Settings& settings, const std::string& name, py::handle value) {
  for (const SettingField<Settings>& field : Settings::fields()) {
    if (name != field.name) continue;
    std::visit(
        [&](auto at) {
          using Value = std::remove_reference_t<decltype(settings.*at)>;
          try {
            settings.*at = value.cast<Value>();
          } catch (const py::cast_error&) {
            const char* kind = std::is_same_v<Value, bool>  ? "true or false"
                               : std::is_same_v<Value, int> ? "an integer"
                                                            : "a number";
            throw py::type_error("setting " + name + " must be " + kind);
          }
        },
        field.member);
    return;
  }
  throw py::type_error("there is no setting named '" + name + "'");
}

template <typename Settings>
Settings settings_with(Settings settings, const py::kwargs& values) {
  for (const auto& [name, value] : values) {
    assign_setting(settings, name.template cast<std::string>(), value);
  }
  settings.validate();
  return settings;
}

template <typename Settings>
py::dict settings_as_dict(const Settings& settings) {
  py::dict values;
  for (const SettingField<Settings>& field : Settings::fields()) {
    std::visit([&](auto at) { values[field.name] = settings.*at; }, field.member);
  }
  return values;
}

template <typename Settings>
py::list setting_table() {
  using namespace py::literals;
  const py::dict defaults = settings_as_dict(Settings());
  py::list table;
  for (const SettingField<Settings>& field : Settings::fields()) {
    table.append(py::dict("name"_a = field.name, "default"_a = defaults[field.name],
                          "unit"_a = field.unit, "low"_a = field.low, "high"_a = field.high,
                          "effect"_a = field.effect));
  }
  return table;
}

template <typename Settings>
py::class_<Settings> bind_settings(py::module_& module, const char* name, const char* description) {
  py::class_<Settings> bound(module, name, description);
  bound.def(py::init([](const py::kwargs& values) { return settings_with(Settings(), values); }))
      .def(
          "replaced",
          [](const Settings& settings, const py::kwargs& values) {
            return settings_with(settings, values);
          },
          "The same settings but for those named.")
      .def("__getattr__",
           [](const Settings& settings, const std::string& wanted) {
             const py::dict values = settings_as_dict(settings);
             if (!values.contains(wanted)) {
               throw py::attribute_error("there is no setting named '" + wanted + "'");
             }
             return py::object(values[wanted.c_str()]);
           })
      .def("as_dict", &settings_as_dict<Settings>, "All settings by name.")
      .def_static("fields", &setting_table<Settings>,
                  "Name, default, unit, range and effect of every setting.");
  return bound;
}

}  // namespace poolpilot
