// LivePool for Python. The GIL is released around everything that takes time or a lock.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bind_queues.hpp"
#include "bindings/to_dict.hpp"
#include "live/server.hpp"

namespace poolpilot {
namespace {

template <typename Call>
auto without_gil(Call call) {
  const py::gil_scoped_release release;
  return call();
}

// Changes some knobs and returns all. Two threads that look and change at once would undo one
// another's; so one does at a time, and the others wait without the GIL, whatever pool is theirs.
py::dict set_live_knobs(LivePool& pool, const py::kwargs& keywords) {
  static std::mutex one_at_a_time;
  const auto turn = without_gil([] { return std::unique_lock(one_at_a_time); });
  py::dict values(keywords);
  PoolKnobs knobs = without_gil([&] { return pool.knobs(); });
  take_weights(values, knobs);
  knobs = settings_with(knobs, values);
  return to_dict(without_gil([&] { return pool.set_knobs(knobs); }));
}

}  // namespace

void bind_live(py::module_& module) {
  const LivePoolSettings defaults;
  py::class_<LivePool, LivePoolHolder>(
      module, "LivePool", "The live pool server on loopback; `fields` tells the other keywords.")
      .def(py::init([](const std::string& address, const std::vector<int>& cpus,
                       const std::vector<std::string>& class_names, const py::kwargs& values) {
             auto settings = pool_settings_with<LivePoolSettings>(values);
             settings.address = address;
             settings.cpus = cpus;
             settings.class_names = class_names;
             return LivePoolHolder(new LivePool(settings));
           }),
           py::kw_only(), py::arg("address") = defaults.address, py::arg("cpus") = defaults.cpus,
           py::arg("class_names") = defaults.class_names)
      .def_static("fields", &setting_table<LivePoolSettings>, kFieldsText)
      .def("start", &LivePool::start, py::call_guard<py::gil_scoped_release>(),
           "Binds, listens and starts to serve.")
      .def("close", &LivePool::close, py::call_guard<py::gil_scoped_release>(),
           "Ends every thread and closes every descriptor.")
      .def_property_readonly(
          "address", py::cpp_function(&LivePool::address, py::call_guard<py::gil_scoped_release>()),
          "Where clients connect.")
      .def_property_readonly(
          "pool_tuple",
          [](const LivePool& pool) { return to_dict(without_gil([&] { return pool.tuple(); })); },
          "The tuple in force, by field.")
      .def(
          "set_tuple",
          [](LivePool& pool, const py::kwargs& values) {
            const PoolTuple tuple = tuple_of(values);
            return to_dict(without_gil([&] { return pool.set_tuple(tuple); }));
          },
          "Puts a tuple in force and returns it.")
      .def_property_readonly(
          "knobs",
          [](const LivePool& pool) { return to_dict(without_gil([&] { return pool.knobs(); })); },
          "The knobs in force besides the tuple, by name.")
      .def("set_knobs", &set_live_knobs,
           "Changes the knobs that are named and returns all that are in force.")
      .def(
          "snapshot",
          [](const LivePool& pool) {
            return to_dict(without_gil([&] { return pool.snapshot(); }));
          },
          "Everything counted since the start.")
      .def(
          "replayed_events",
          [](const LivePool& pool) {
            return without_gil([&] { return replay_all(pool.event_logs()); });
          },
          "(recorded events, events a fresh machine answers alike); call after close.");
}

}  // namespace poolpilot
