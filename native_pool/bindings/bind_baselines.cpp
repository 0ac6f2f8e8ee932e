// Python face of the baseline climbers.
#include <pybind11/pybind11.h>

#include "bindings/bind_settings.hpp"
#include "climb/baselines/control_theory.hpp"
#include "climb/baselines/dotnet.hpp"
#include "climb/baselines/golden_section.hpp"
#include "climb/baselines/gradient2.hpp"
#include "climb/baselines/probing.hpp"
#include "climb/baselines/three_state.hpp"
#include "climb/baselines/vegas.hpp"

namespace poolpilot {
namespace {

template <typename Baseline, typename Settings>
void bind_baseline(py::module_& module, const char* settings_name, const char* name,
                   const char* description) {
  bind_settings<Settings>(module, settings_name, "Settings of a baseline climber.");
  py::class_<Baseline, Climber>(module, name, description)
      .def(py::init([](const Settings& settings, int initial_size, int min_size, int max_size) {
             return Baseline(settings, initial_size, {.min = min_size, .max = max_size});
           }),
           py::arg("settings"), py::arg("initial_size"), py::arg("min_size"), py::arg("max_size"));
}

}  // namespace

void bind_baselines(py::module_& module) {
  bind_baseline<ControlTheoryClimber, ControlTheorySettings>(
      module, "ControlTheorySettings", "ControlTheoryClimber", "Stochastic approximation.");
  bind_baseline<ThreeStateClimber, ThreeStateSettings>(module, "ThreeStateSettings",
                                                       "ThreeStateClimber", "Timm's three states.");
  bind_baseline<DotnetClimber, DotnetSettings>(module, "DotnetSettings", "DotnetClimber",
                                               ".NET's hill climbing.");
  bind_baseline<ProbingClimber, ProbingSettings>(module, "ProbingSettings", "ProbingClimber",
                                                 "MongoDB's throughput probing.");
  bind_baseline<GoldenSectionClimber, GoldenSectionSettings>(
      module, "GoldenSectionSettings", "GoldenSectionClimber", "Golden-section search.");
  bind_baseline<Gradient2Climber, Gradient2Settings>(module, "Gradient2Settings",
                                                     "Gradient2Climber",
                                                     "Netflix's Gradient2, a limit of admission.");
  bind_baseline<VegasClimber, VegasSettings>(module, "VegasSettings", "VegasClimber",
                                             "failsafe-go's limiter, a limit of admission.");
}

}  // namespace poolpilot
