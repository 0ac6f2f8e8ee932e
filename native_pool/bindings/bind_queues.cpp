#include "bindings/bind_queues.hpp"

#include <cstdint>
#include <memory>

#include "queues/request_queues.hpp"

namespace poolpilot {
namespace {

using NumberedQueues = RequestQueues<std::int64_t>;

// Ranges are checked by the pool that takes them.
template <typename Settings>
void bind_one(py::module_& module, const char* name, const char* description) {
  py::class_<Settings>(module, name, description)
      .def(py::init([](const py::kwargs& values) { return settings_with(Settings(), values); }))
      .def("as_dict", &settings_as_dict<Settings>, "All settings by name.")
      .def_static("fields", &setting_table<Settings>, kFieldsText);
}

std::unique_ptr<NumberedQueues> make_queues(const py::kwargs& keywords) {
  py::dict values(keywords);
  QueueSettings settings;
  take_queues(values, settings);
  settings = settings_with(settings, values);
  check(settings);
  return std::make_unique<NumberedQueues>(settings, 0);
}

void put(NumberedQueues& queues, std::int64_t item, int class_id, std::int64_t now_us,
         bool in_transaction) {
  check_range("class_id", class_id, kAnyClass, kClasses - 1);
  queues.put(item, {.class_id = class_id, .in_transaction = in_transaction}, now_us);
}

std::int64_t take(NumberedQueues& queues, std::int64_t now_us) {
  if (queues.empty()) throw py::index_error("the queues are empty: put something first");
  if (queues.ages_between_ticks()) queues.age(now_us);
  return queues.take().item;
}

void bind_request_queues(py::module_& module) {
  py::class_<NumberedQueues>(module, "RequestQueues",
                             "The queues of one thread group alone, for requests that are numbers.")
      .def(py::init(&make_queues))
      .def("put", &put, py::arg("item"), py::kw_only(), py::arg("class_id"), py::arg("now_us"),
           py::arg("in_transaction") = false, "A request has come.")
      .def("take", &take, py::kw_only(), py::arg("now_us"), "The request that is served next.")
      .def("__len__", &NumberedQueues::size);
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
  bind_request_queues(module);
}

}  // namespace poolpilot
