// LivePool for Python. The GIL is released around everything that takes time or a lock.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>

#include "bindings/to_dict.hpp"
#include "live/server.hpp"

namespace py = pybind11;

namespace poolpilot {
namespace {

template <typename Call>
auto without_gil(Call call) {
  const py::gil_scoped_release release;
  return call();
}

}  // namespace

void bind_live(py::module_& module) {
  py::class_<LivePool>(module, "LivePool", "The live pool server on loopback.")
      .def(py::init([](const std::string& address, const std::vector<int>& cpus, int pool_size,
                       int oversubscribe, int timer_interval_ms, bool create_thread_on_wait,
                       double idle_timeout_s, int queue_put_limit, int wake_top_limit,
                       int listener_wake_limit, int listener_create_limit, bool dedicated_listener,
                       const std::string& throttle, int max_pool_size, int max_connections,
                       int max_threads, int prio_kickup_ms, double wait_timeout_s, bool instrument,
                       int sample_every, int sample_pause_us, double latch_timeout_s,
                       const std::vector<std::string>& class_names, bool record_events) {
             LivePoolSettings settings;
             settings.address = address;
             settings.cpus = cpus;
             settings.tuple = {pool_size, oversubscribe, timer_interval_ms, create_thread_on_wait,
                               idle_timeout_s};
             settings.group.queue_put_limit = queue_put_limit;
             settings.group.wake_top_limit = wake_top_limit;
             settings.group.listener_wake_limit = listener_wake_limit;
             settings.group.listener_create_limit = listener_create_limit;
             settings.group.dedicated_listener = dedicated_listener;
             settings.group.throttle = throttle_named(throttle);
             settings.max_pool_size = max_pool_size;
             settings.max_connections = max_connections;
             settings.max_threads = max_threads;
             settings.prio_kickup_ms = prio_kickup_ms;
             settings.wait_timeout_s = wait_timeout_s;
             settings.executor = {instrument, sample_every, latch_timeout_s, sample_pause_us};
             settings.class_names = class_names;
             settings.record_events = record_events;
             return std::make_unique<LivePool>(settings);
           }),
           py::kw_only(), py::arg("address") = "tcp:127.0.0.1:0",
           py::arg("cpus") = std::vector<int>{}, py::arg("pool_size") = 1,
           py::arg("oversubscribe") = 3, py::arg("timer_interval_ms") = 500,
           py::arg("create_thread_on_wait") = true, py::arg("idle_timeout_s") = 60.0,
           py::arg("queue_put_limit") = 0, py::arg("wake_top_limit") = 0,
           py::arg("listener_wake_limit") = 0, py::arg("listener_create_limit") = 0,
           py::arg("dedicated_listener") = false, py::arg("throttle") = "mariadb",
           py::arg("max_pool_size") = 128, py::arg("max_connections") = 2048,
           py::arg("max_threads") = 65536, py::arg("prio_kickup_ms") = 1000,
           py::arg("wait_timeout_s") = 28'800.0, py::arg("instrument") = true,
           py::arg("sample_every") = 16, py::arg("sample_pause_us") = 2'000,
           py::arg("latch_timeout_s") = 5.0, py::arg("class_names") = std::vector<std::string>{},
           py::arg("record_events") = false)
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
          [](LivePool& pool, int pool_size, int oversubscribe, int timer_interval_ms,
             bool create_thread_on_wait, double idle_timeout_s) {
            const PoolTuple tuple{pool_size, oversubscribe, timer_interval_ms,
                                  create_thread_on_wait, idle_timeout_s};
            return to_dict(without_gil([&] { return pool.set_tuple(tuple); }));
          },
          py::kw_only(), py::arg("pool_size"), py::arg("oversubscribe"),
          py::arg("timer_interval_ms"), py::arg("create_thread_on_wait") = true,
          py::arg("idle_timeout_s") = 60.0, "Puts a tuple in force and returns it.")
      .def(
          "snapshot",
          [](const LivePool& pool) {
            return to_dict(without_gil([&] { return pool.snapshot(); }));
          },
          "Everything counted since the start.")
      .def(
          "replayed_events",
          [](const LivePool& pool) {
            std::size_t entries = 0;
            std::size_t same = 0;
            const py::gil_scoped_release release;
            for (const EventLog& log : pool.event_logs()) {
              entries += log.entries.size();
              same += replay(log);
            }
            return std::pair(entries, same);
          },
          "(recorded events, events a fresh machine answers alike); call after close.");
}

}  // namespace poolpilot
