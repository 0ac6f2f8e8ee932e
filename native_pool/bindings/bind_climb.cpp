// Python face of the spectral climber.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "climb/settings.hpp"
#include "climb/spectral.hpp"

namespace py = pybind11;

namespace poolpilot {
namespace {

using Field = std::variant<int SpectralSettings::*, double SpectralSettings::*>;

const std::array<std::pair<const char*, Field>, 26> kFields{{
    {"wave_period", &SpectralSettings::wave_period},
    {"samples_to_wave_period_ratio", &SpectralSettings::samples_to_wave_period_ratio},
    {"min_periods_to_decide", &SpectralSettings::min_periods_to_decide},
    {"settle_samples", &SpectralSettings::settle_samples},
    {"price_of_thread", &SpectralSettings::price_of_thread},
    {"confidence", &SpectralSettings::confidence},
    {"hcm_ccs_valuable_progress", &SpectralSettings::hcm_ccs_valuable_progress},
    {"hcm_reference_size", &SpectralSettings::hcm_reference_size},
    {"hcm_min_thread_wave_magnitude", &SpectralSettings::hcm_min_thread_wave_magnitude},
    {"hcm_max_thread_wave_magnitude", &SpectralSettings::hcm_max_thread_wave_magnitude},
    {"wave_magnitude_growth", &SpectralSettings::wave_magnitude_growth},
    {"wave_noise_multiplier", &SpectralSettings::wave_noise_multiplier},
    {"hcm_eps", &SpectralSettings::hcm_eps},
    {"hcm_step_gain", &SpectralSettings::hcm_step_gain},
    {"hcm_max_step_ratio", &SpectralSettings::hcm_max_step_ratio},
    {"hcm_plateau_factor", &SpectralSettings::hcm_plateau_factor},
    {"hcm_plateau_decay", &SpectralSettings::hcm_plateau_decay},
    {"hcm_valuable_diff", &SpectralSettings::hcm_valuable_diff},
    {"hcm_reference_samples", &SpectralSettings::hcm_reference_samples},
    {"hcm_exit_samples", &SpectralSettings::hcm_exit_samples},
    {"hcm_exit_confidence", &SpectralSettings::hcm_exit_confidence},
    {"hcm_steep_decline", &SpectralSettings::hcm_steep_decline},
    {"hcm_false_optimized_excess", &SpectralSettings::hcm_false_optimized_excess},
    {"hcm_false_jump_ratio", &SpectralSettings::hcm_false_jump_ratio},
    {"min_accepted_throughput", &SpectralSettings::min_accepted_throughput},
    {"log_limit", &SpectralSettings::log_limit},
}};

void assign(SpectralSettings& settings, const std::string& name, py::handle value) {
  for (const auto& [known, field] : kFields) {
    if (name != known) continue;
    std::visit(
        [&](auto member) {
          using Value = std::remove_reference_t<decltype(settings.*member)>;
          try {
            settings.*member = value.cast<Value>();
          } catch (const py::cast_error&) {
            const char* kind = std::is_same_v<Value, int> ? "an integer" : "a number";
            throw py::type_error("setting " + name + " must be " + kind);
          }
        },
        field);
    return;
  }
  throw py::type_error("SpectralSettings has no setting named '" + name + "'");
}

SpectralSettings make_settings(const py::kwargs& values) {
  SpectralSettings settings;
  for (const auto& [name, value] : values) assign(settings, name.cast<std::string>(), value);
  settings.validate();
  return settings;
}

py::dict as_dict(const ClimbDecision& decision) {
  using namespace py::literals;
  return py::dict("sample"_a = decision.sample, "mode"_a = name_of(decision.mode),
                  "size"_a = decision.size, "ratio"_a = decision.ratio, "noise"_a = decision.noise,
                  "reason"_a = decision.reason);
}

py::list log_of(const SpectralClimber& climber) {
  py::list decisions;
  for (const ClimbDecision& decision : climber.log()) decisions.append(as_dict(decision));
  return decisions;
}

int update(SpectralClimber& climber, double throughput, double connections, double latency_s,
           int size) {
  return climber.update(
      {.throughput = throughput, .connections = connections, .latency_s = latency_s, .size = size});
}

}  // namespace

void bind_climb(py::module_& module) {
  py::class_<SpectralSettings> settings(module, "SpectralSettings",
                                        "Settings of the spectral climber, named as in the "
                                        "adaptive thread pool article.");
  settings.def(py::init(&make_settings));
  for (const auto& [name, field] : kFields) {
    std::visit([&, known = name](auto member) { settings.def_readonly(known, member); }, field);
  }

  py::class_<SpectralClimber>(module, "SpectralClimber",
                              "Hill climbing on the pool size by a wave and its echo.")
      .def(py::init<const SpectralSettings&, int, int, int, bool>(), py::arg("settings"),
           py::arg("initial_size"), py::arg("min_size"), py::arg("max_size"), py::kw_only(),
           py::arg("warm") = false)
      .def("update", &update, py::arg("throughput"), py::arg("connections"), py::arg("latency_s"),
           py::arg("size"), "Takes one sample and returns the size to set next.")
      .def_property_readonly("mode",
                             [](const SpectralClimber& climber) { return name_of(climber.mode()); })
      .def("log", &log_of, "The latest decisions, oldest first.");
}

}  // namespace poolpilot
