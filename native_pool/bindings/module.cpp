// The extension module poolpilot.native_pool._core.
#include <pybind11/pybind11.h>

namespace poolpilot {

void bind_climb(pybind11::module_& module);
void bind_live(pybind11::module_& module);
void bind_load(pybind11::module_& module);
void bind_network(pybind11::module_& module);
void bind_queues(pybind11::module_& module);
void bind_baselines(pybind11::module_& module);
void bind_sim(pybind11::module_& module);

}  // namespace poolpilot

PYBIND11_MODULE(_core, module) {
  module.doc() =
      "Live pool, load generator, simulator and climbers in C++; use poolpilot.native_pool.";
  poolpilot::bind_queues(module);
  poolpilot::bind_live(module);
  poolpilot::bind_load(module);
  poolpilot::bind_sim(module);
  poolpilot::bind_network(module);
  poolpilot::bind_climb(module);
  poolpilot::bind_baselines(module);
}
