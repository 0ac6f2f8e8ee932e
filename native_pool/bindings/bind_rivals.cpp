// Python face of the rival climbers.
#include <pybind11/pybind11.h>

#include "bindings/bind_settings.hpp"
#include "climb/rivals/control_theory.hpp"
#include "climb/rivals/dotnet.hpp"
#include "climb/rivals/golden_section.hpp"
#include "climb/rivals/gradient2.hpp"
#include "climb/rivals/probing.hpp"
#include "climb/rivals/three_state.hpp"
#include "climb/rivals/vegas.hpp"

namespace poolpilot {
namespace {

template <typename Rival, typename Settings>
void bind_rival(py::module_& module, const char* settings_name, const char* name,
                const char* description) {
  bind_settings<Settings>(module, settings_name, "Settings of a rival climber.");
  py::class_<Rival, Climber>(module, name, description)
      .def(py::init([](const Settings& settings, int initial_size, int min_size, int max_size) {
             return Rival(settings, initial_size, {.min = min_size, .max = max_size});
           }),
           py::arg("settings"), py::arg("initial_size"), py::arg("min_size"), py::arg("max_size"));
}

}  // namespace

void bind_rivals(py::module_& module) {
  bind_rival<ControlTheoryClimber, ControlTheorySettings>(
      module, "ControlTheorySettings", "ControlTheoryClimber", "Stochastic approximation.");
  bind_rival<ThreeStateClimber, ThreeStateSettings>(module, "ThreeStateSettings",
                                                    "ThreeStateClimber", "Timm's three states.");
  bind_rival<DotnetClimber, DotnetSettings>(module, "DotnetSettings", "DotnetClimber",
                                            ".NET's hill climbing.");
  bind_rival<ProbingClimber, ProbingSettings>(module, "ProbingSettings", "ProbingClimber",
                                              "MongoDB's throughput probing.");
  bind_rival<GoldenSectionClimber, GoldenSectionSettings>(
      module, "GoldenSectionSettings", "GoldenSectionClimber", "Golden-section search.");
  bind_rival<Gradient2Climber, Gradient2Settings>(module, "Gradient2Settings", "Gradient2Climber",
                                                  "Netflix's Gradient2, a limit of admission.");
  bind_rival<VegasClimber, VegasSettings>(module, "VegasSettings", "VegasClimber",
                                          "failsafe-go's limiter, a limit of admission.");
}

}  // namespace poolpilot
