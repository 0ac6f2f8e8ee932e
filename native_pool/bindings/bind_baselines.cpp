// Python face of the baseline climbers.
#include <pybind11/pybind11.h>

#include "climb/baselines/control_theory.hpp"
#include "climb/baselines/dotnet.hpp"
#include "climb/baselines/golden_section.hpp"
#include "climb/baselines/probing.hpp"
#include "climb/baselines/three_state.hpp"

namespace poolpilot {
namespace {

namespace py = pybind11;

template <typename Baseline>
void bind_baseline(py::module_& module, const char* name, const char* description) {
  py::class_<Baseline, Climber>(module, name, description)
      .def(py::init([](int initial_size, int min_size, int max_size) {
             return Baseline({}, initial_size, {.min = min_size, .max = max_size});
           }),
           py::arg("initial_size"), py::arg("min_size"), py::arg("max_size"));
}

}  // namespace

void bind_baselines(py::module_& module) {
  bind_baseline<ControlTheoryClimber>(module, "ControlTheoryClimber", "Stochastic approximation.");
  bind_baseline<ThreeStateClimber>(module, "ThreeStateClimber", "Timm's three states.");
  bind_baseline<DotnetClimber>(module, "DotnetClimber", ".NET's hill climbing.");
  bind_baseline<ProbingClimber>(module, "ProbingClimber", "MongoDB's throughput probing.");
  bind_baseline<GoldenSectionClimber>(module, "GoldenSectionClimber", "Golden-section search.");
}

}  // namespace poolpilot
