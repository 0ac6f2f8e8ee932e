#include "bindings/bind_queues.hpp"

namespace poolpilot {
namespace {

// Ranges are checked by the pool that takes them.
template <typename Settings>
void bind_one(py::module_& module, const char* name, const char* description) {
  py::class_<Settings>(module, name, description)
      .def(py::init([](const py::kwargs& values) { return settings_with(Settings(), values); }))
      .def("as_dict", &settings_as_dict<Settings>, "All settings by name.")
      .def_static("fields", &setting_table<Settings>, kFieldsText);
}

}  // namespace

py::dict to_dict(const PoolKnobs& knobs) {
  py::dict values = settings_as_dict(knobs);
  values["weights"] = knobs.weights;
  return values;
}

void bind_queues(py::module_& module) {
  bind_one<QueueSpec>(module, "QueueSpec", "One queue of every thread group.");
  bind_one<QueueRule>(module, "QueueRule",
                      "Which requests go to a queue; the first that fits holds.");
}

}  // namespace poolpilot
