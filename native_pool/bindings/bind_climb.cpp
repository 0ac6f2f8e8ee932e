// Python face of the spectral climber and of what all climbers have in common.
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind_settings.hpp"
#include "climb/knobs.hpp"
#include "climb/spectral.hpp"

namespace poolpilot {
namespace {

// None where there is no finite number, so that JSON can hold it.
std::optional<double> finite(double value) {
  if (std::isfinite(value)) return value;
  return std::nullopt;
}

py::dict as_dict(const ClimbRecord& record) {
  using namespace py::literals;
  return py::dict("sample"_a = record.sample, "mode"_a = name_of(record.mode),
                  "size"_a = record.size, "next_size"_a = record.next_size,
                  "wave_low"_a = record.wave_low, "wave_high"_a = record.wave_high,
                  "bracket_low"_a = record.bracket_low, "bracket_high"_a = record.bracket_high,
                  "throughput"_a = finite(record.throughput),
                  "size_harmonic"_a = record.size_harmonic,
                  "throughput_harmonic"_a = record.throughput_harmonic, "ratio"_a = record.ratio,
                  "error"_a = finite(record.error), "progress"_a = record.progress,
                  "period_s"_a = record.period_s, "decision"_a = decision_of(record.reason),
                  "reason"_a = record.text());
}

py::dict as_dict(const KnobState& state) {
  using namespace py::literals;
  return py::dict("value"_a = state.value, "next_value"_a = state.next_value,
                  "middle"_a = state.middle, "wave_low"_a = state.wave_low,
                  "wave_high"_a = state.wave_high, "ratio"_a = finite(state.ratio),
                  "error"_a = finite(state.error));
}

py::dict as_dict(const KnobRecord& record) {
  using namespace py::literals;
  py::list knobs;
  for (std::size_t k = 0; k < record.knobs; ++k) knobs.append(as_dict(record.states[k]));
  return py::dict("sample"_a = record.sample, "mode"_a = name_of(record.mode), "knobs"_a = knobs,
                  "throughput"_a = finite(record.throughput),
                  "duration_s"_a = finite(record.duration_s), "period_s"_a = record.period_s,
                  "decision"_a = record.decision(), "reason"_a = record.text());
}

template <typename Climbing, typename... Bases>
void bind_settings_and_journal(py::class_<Climbing, Bases...>& climber) {
  climber.def_property_readonly("settings", &Climbing::settings)
      .def_property_readonly("mode", [](const Climbing& one) { return name_of(one.mode()); })
      .def_property_readonly(
          "latest", [](const Climbing& one) { return as_dict(one.journal().latest()); },
          "The latest record, kept even where the log is off.")
      .def(
          "log",
          [](const Climbing& one) {
            py::list records;
            const auto& kept = one.journal().records();
            for (std::size_t i = 0; i < kept.size(); ++i) records.append(as_dict(kept[i]));
            return records;
          },
          "One record of every update, oldest first, where the log is on.");
}

Sample sample_of(std::optional<double> throughput, double connections, double latency_s, int size,
                 double duration_s, std::optional<double> in_system,
                 std::optional<double> completed_per_s) {
  return {.throughput = throughput.value_or(std::numeric_limits<double>::quiet_NaN()),
          .connections = connections,
          .latency_s = latency_s,
          .size = size,
          .duration_s = duration_s,
          .in_system = in_system.value_or(-1.0),
          .completed = completed_per_s.value_or(-1.0)};
}

int update(Climber& climber, std::optional<double> throughput, double connections, double latency_s,
           int size, double duration_s, std::optional<double> in_system,
           std::optional<double> completed_per_s) {
  return climber.update(
      sample_of(throughput, connections, latency_s, size, duration_s, in_system, completed_per_s));
}

KnobClimber make_knob_climber(const SpectralSettings& settings,
                              const std::vector<std::tuple<int, int, double>>& knobs,
                              const std::vector<int>& values) {
  std::vector<KnobRange> ranges;
  for (const auto& [low, high, price] : knobs) {
    ranges.push_back({.limits = {.min = low, .max = high}, .price = price});
  }
  return KnobClimber(settings, std::move(ranges), values);
}

void adopt(KnobClimber& climber, const SpectralSettings& settings,
           const std::vector<double>& prices) {
  climber.adopt(settings, prices);
}

void bind_knobs(py::module_& module) {
  py::class_<KnobClimber> bound(
      module, "KnobClimber", "Spectral climbing on many knobs at once, each at its own frequency.");
  bind_settings_and_journal(bound);
  bound.def(py::init(&make_knob_climber), py::arg("settings"), py::arg("knobs"), py::arg("values"))
      .def(
          "update",
          [](KnobClimber& climber, std::optional<double> throughput, double connections,
             double latency_s, const std::vector<int>& values, double duration_s,
             std::optional<double> in_system, std::optional<double> completed_per_s) {
            return climber.update(sample_of(throughput, connections, latency_s, 1, duration_s,
                                            in_system, completed_per_s),
                                  values);
          },
          py::arg("throughput"), py::arg("connections"), py::arg("latency_s"), py::arg("values"),
          py::arg("duration_s") = 0.0, py::arg("in_system") = py::none(),
          py::arg("completed_per_s") = py::none(),
          "Takes one sample and returns the values to set next.")
      .def("adopt", &adopt, py::arg("settings"), py::arg("prices") = std::vector<double>(),
           "Other settings from the next sample on, and other prices where there are any.")
      .def_property_readonly("period_s", &KnobClimber::period_s)
      .def_property_readonly("values", &KnobClimber::values)
      .def_property_readonly("ratios", &KnobClimber::ratios)
      .def_property_readonly("errors", &KnobClimber::errors);
}

}  // namespace

void bind_climb(py::module_& module) {
  py::class_<Climber>(module, "Climber", "A controller of the pool size.")
      .def("update", &update, py::arg("throughput"), py::arg("connections"), py::arg("latency_s"),
           py::arg("size"), py::arg("duration_s") = 0.0, py::arg("in_system") = py::none(),
           py::arg("completed_per_s") = py::none(),
           "Takes one sample and returns the size to set next; None where there is no throughput.")
      .def_property_readonly("size", &Climber::size)
      .def_property_readonly("period_s", &Climber::period_s);

  bind_settings<SpectralSettings>(module, "SpectralSettings",
                                  "Settings of the spectral climber, named as in Trub's "
                                  "adaptive thread pool.")
      .def_static("article", &SpectralSettings::article, "Trub's own method.");

  py::class_<SpectralClimber, Climber> spectral(
      module, "SpectralClimber", "Hill climbing on the pool size by a wave and its echo.");
  spectral
      .def(py::init([](const SpectralSettings& settings, int initial_size, int min_size,
                       int max_size, bool warm) {
             return SpectralClimber(settings, initial_size, {.min = min_size, .max = max_size},
                                    warm);
           }),
           py::arg("settings"), py::arg("initial_size"), py::arg("min_size"), py::arg("max_size"),
           py::kw_only(), py::arg("warm") = false)
      .def("adopt", &SpectralClimber::adopt, py::arg("settings"),
           "Other settings from the next sample on.");
  bind_settings_and_journal(spectral);

  bind_knobs(module);
}

}  // namespace poolpilot
