// The simulator for Python. It runs in slices, so that Ctrl-C ends it between two of them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bindings/bind_queues.hpp"
#include "bindings/guarded.hpp"
#include "bindings/to_dict.hpp"
#include "sim/parallel.hpp"
#include "sim/pool.hpp"

namespace poolpilot {
namespace {

using load::ClassSpec;
using sim::Load;
using sim::LoadChange;
using sim::Machine;
using sim::ParallelRuns;
using sim::PoolRun;
using sim::RunLimits;
using sim::SimulatedPool;
using sim::SimulationSettings;
using GuardedPool = Guarded<SimulatedPool>;

constexpr std::chrono::milliseconds kBetweenSignals{50};
constexpr std::int64_t kSliceEvents = 500'000;  // some tens of milliseconds

void bind_machine(py::module_& module) {
  py::class_<Machine>(module, "SimulatedMachine",
                      "The machine, as simulation.Machine; `fields` tells the keywords.")
      .def(py::init([](const py::kwargs& values) {
        const Machine machine = settings_with(Machine(), values);
        require_ranges(machine);
        return machine;
      }))
      .def_static("fields", &setting_table<Machine>, kFieldsText);
}

void bind_load_of_simulation(py::module_& module) {
  py::class_<LoadChange>(module, "SimulatedLoadChange", "A change of the load at a time.")
      .def(
          py::init([](double at_s, std::optional<double> rate_per_s, std::optional<int> connections,
                      std::optional<double> think_factor, const std::vector<double>& shares) {
            return LoadChange{at_s, rate_per_s, connections, think_factor, shares};
          }),
          py::kw_only(), py::arg("at_s"), py::arg("rate_per_s") = py::none(),
          py::arg("connections") = py::none(), py::arg("think_factor") = py::none(),
          py::arg("shares") = std::vector<double>{});
  const Load load;
  py::class_<Load>(module, "SimulatedLoad", "Who sends what, as workload.Workload.")
      .def(py::init([](const std::vector<ClassSpec>& classes, int connections,
                       std::optional<double> rate_per_s, std::uint64_t seed, double ramp_s,
                       int backlog_limit, const std::vector<LoadChange>& changes) {
             return Load{classes, connections, rate_per_s, seed, ramp_s, backlog_limit, changes};
           }),
           py::kw_only(), py::arg("classes"), py::arg("connections"),
           py::arg("rate_per_s") = py::none(), py::arg("seed") = load.seed,
           py::arg("ramp_s") = load.ramp_s, py::arg("backlog_limit") = load.backlog_limit,
           py::arg("changes") = load.changes);
}

std::unique_ptr<GuardedPool> make_pool(const Machine& machine, const Load& load,
                                       const py::kwargs& values) {
  auto settings = pool_settings_with<SimulationSettings>(values);
  settings.machine = machine;
  settings.load = load;
  return std::make_unique<GuardedPool>("a pool", settings);
}

// No count reaches the greatest number, which is as good as no limit.
std::int64_t saturated_sum(std::int64_t answered, std::int64_t requests) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return requests > kMost - answered ? kMost : answered + requests;
}

RunLimits limits_of(const SimulatedPool& pool, double seconds, std::optional<std::int64_t> requests,
                    double least_s) {
  constexpr double kMostSeconds = 1e8;
  check_range("seconds", seconds, 0, kMostSeconds);
  check_range("least_s", least_s, 0, kMostSeconds);
  if (requests && *requests < 0) throw std::invalid_argument("requests must be at least 0");
  RunLimits limits;
  limits.until_s = pool.now_s() + seconds;
  limits.at_least_until_s = pool.now_s() + least_s;
  if (requests) limits.until_answered = saturated_sum(pool.answered(), *requests);
  return limits;
}

void run(SimulatedPool& pool, double seconds, std::optional<std::int64_t> requests,
         double least_s) {
  RunLimits limits = limits_of(pool, seconds, requests, least_s);
  limits.events = kSliceEvents;
  while (true) {
    bool done = false;
    {
      const py::gil_scoped_release release;
      done = pool.run(limits);
    }
    if (done) return;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

void check_each_has_its_own(const std::vector<GuardedPool*>& pools,
                            const std::vector<double>& seconds,
                            const std::vector<double>& least_s) {
  if (std::ranges::find(pools, nullptr) != pools.end()) {
    throw std::invalid_argument("pools must hold pools, not None");
  }
  if (seconds.size() != pools.size() || least_s.size() != pools.size()) {
    throw std::invalid_argument("seconds and least_s must hold one value for each pool");
  }
  if (std::set(pools.begin(), pools.end()).size() != pools.size()) {
    throw std::invalid_argument("a pool is listed twice, but it is run by one thread");
  }
}

std::vector<PoolRun> runs_of(const std::vector<GuardedPool*>& pools,
                             const std::vector<double>& seconds,
                             std::optional<std::int64_t> requests,
                             const std::vector<double>& least_s) {
  std::vector<PoolRun> runs;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    PoolRun run;
    run.pool = &pools[i]->simulation;
    run.limits = limits_of(*run.pool, seconds[i], requests, least_s[i]);
    runs.push_back(run);
  }
  return runs;
}

// The text of a deadlock, which is a result; whatever else a run has thrown is thrown here.
std::optional<std::string> deadlock_of(const PoolRun& run) {
  if (!run.failure) return std::nullopt;
  try {
    std::rethrow_exception(run.failure);
  } catch (const sim::Deadlock& deadlock) {
    return deadlock.what();
  }
}

std::vector<std::optional<std::string>> run_all(const std::vector<GuardedPool*>& pools,
                                                const std::vector<double>& seconds,
                                                std::optional<std::int64_t> requests,
                                                const std::vector<double>& least_s, int threads) {
  check_each_has_its_own(pools, seconds, least_s);
  std::vector<py::object> held;  // whoever empties the list meanwhile, no pool ends before its run
  for (GuardedPool* const pool : pools) held.push_back(py::cast(pool));
  std::deque<Use> uses;  // given back when the threads have ended
  for (GuardedPool* const pool : pools) uses.emplace_back(*pool);
  ParallelRuns parallel(runs_of(pools, seconds, requests, least_s), threads);
  while (true) {
    bool ended = false;
    {
      const py::gil_scoped_release release;
      ended = parallel.wait_for(kBetweenSignals);
    }
    if (ended) break;
    if (PyErr_CheckSignals() != 0) {
      const py::gil_scoped_release release;
      parallel.stop();
      while (!parallel.wait_for(kBetweenSignals)) {
      }
      break;
    }
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  std::vector<std::optional<std::string>> deadlocks;
  for (const PoolRun& run : parallel.results()) deadlocks.push_back(deadlock_of(run));
  return deadlocks;
}

void bind_pool(py::module_& module) {
  py::register_exception<sim::Deadlock>(module, "SimulatedDeadlock", PyExc_RuntimeError);
  py::class_<GuardedPool>(module, "SimulatedPool",
                          "The pool in virtual time; `fields` tells the other keywords.")
      .def(py::init(&make_pool), py::kw_only(), py::arg("machine"), py::arg("load"))
      .def_static("fields", &setting_table<SimulationSettings>, kFieldsText)
      .def(
          "run", guarded(&run), py::arg("seconds"), py::arg("requests") = py::none(),
          py::arg("least_s") = 0.0,
          "Runs for a virtual time, or until so many more requests are answered and `least_s` have "
          "passed.")
      .def_property_readonly(
          "pool_tuple", guarded(+[](const SimulatedPool& pool) { return to_dict(pool.tuple()); }),
          "The tuple in force, by field.")
      .def("set_tuple", guarded(+[](SimulatedPool& pool, const py::kwargs& values) {
             return to_dict(pool.set_tuple(tuple_of(values)));
           }),
           "Puts a tuple in force and returns it.")
      .def_property_readonly(
          "knobs", guarded(+[](const SimulatedPool& pool) { return to_dict(pool.knobs()); }),
          "The knobs in force besides the tuple, by name.")
      .def("set_knobs", guarded(&set_knobs<SimulatedPool>),
           "Changes the knobs that are named and returns all that are in force.")
      .def("snapshot", guarded(+[](const SimulatedPool& pool) { return to_dict(pool.snapshot()); }),
           "Everything counted since the start.")
      .def_property_readonly("now_s", guarded(&SimulatedPool::now_s), "Virtual time.")
      .def_property_readonly("events", guarded(&SimulatedPool::events),
                             "Events that have happened.")
      .def_property_readonly("sent", guarded(&SimulatedPool::sent), "Requests sent.")
      .def_property_readonly("thread_changes", guarded(&SimulatedPool::thread_changes),
                             "Threads created and woken because of a stall.")
      .def_property_readonly("answered", guarded(&SimulatedPool::answered), "Requests answered.")
      .def("replayed_events",
           guarded(+[](const SimulatedPool& pool) { return replay_all(pool.event_logs()); }),
           "(recorded events, events a fresh machine answers alike).");
  module.def("run_all", &run_all, py::arg("pools"), py::kw_only(), py::arg("seconds"),
             py::arg("requests") = py::none(), py::arg("least_s"), py::arg("threads") = 1,
             "Runs different pools at once, as run; returns the deadlock of each, None where there "
             "is none.");
}

}  // namespace

void bind_sim(py::module_& module) {
  bind_machine(module);
  bind_load_of_simulation(module);
  bind_pool(module);
}

}  // namespace poolpilot
