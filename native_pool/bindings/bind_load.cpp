// The load generator for its own process: plain Python types, so that the child needs no numpy.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "load/generator.hpp"

namespace py = pybind11;

namespace poolpilot {
namespace {

using load::ClassReport;
using load::ClassSpec;
using load::LoadGenerator;
using load::Report;
using load::Settings;
using load::StepSpec;

py::list sparse(const HistogramCounts& histogram) {
  py::list pairs;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] != 0) pairs.append(py::make_tuple(i, histogram.counts[i]));
  }
  return pairs;
}

py::dict to_dict(const ClassReport& report) {
  py::dict fields;
  fields["sent"] = report.sent;
  fields["completed"] = report.completed;
  fields["failed"] = report.failed;
  fields["refused"] = report.refused;
  fields["lost"] = report.lost;
  fields["latency_counts"] = sparse(report.latency_us);
  fields["latency_total_us"] = report.latency_us.total;
  fields["latency_total_squares_us"] = report.latency_us.total_squares;
  return fields;
}

py::dict to_dict(const Report& report) {
  py::dict fields;
  fields["time_s"] = report.time_s;
  fields["unexpected"] = report.unexpected;
  fields["backlog"] = report.backlog;
  fields["dropped"] = report.dropped;
  fields["connections"] = report.connections;
  fields["process_cpu_s"] = report.process_cpu_s;
  fields["errors"] = report.errors;
  py::dict classes;
  for (const ClassReport& one : report.classes) classes[py::str(one.name)] = to_dict(one);
  fields["classes"] = classes;
  return fields;
}

void bind_step(py::module_& module) {
  py::class_<StepSpec>(module, "LoadStep", "One step of a request, as workload.Step.")
      .def(py::init([](const std::string& op, double us, double variation, const std::string& kind,
                       bool reported, int latch, int spread, int spin_us, double waiter_cost_us) {
             return StepSpec{load::op_named(op), us,    variation, load::wait_kind_named(kind),
                             reported,           latch, spread,    spin_us,
                             waiter_cost_us};
           }),
           py::kw_only(), py::arg("op"), py::arg("us") = 0.0, py::arg("variation") = 0.0,
           py::arg("kind") = "sleep", py::arg("reported") = false, py::arg("latch") = 0,
           py::arg("spread") = 1, py::arg("spin_us") = 0, py::arg("waiter_cost_us") = 0.0);
}

void bind_class(py::module_& module) {
  py::class_<ClassSpec>(module, "LoadClass", "Requests that share a program.")
      .def(py::init([](const std::string& name, const std::vector<StepSpec>& steps, double share,
                       double think_ms) { return ClassSpec{name, steps, share, think_ms}; }),
           py::kw_only(), py::arg("name"), py::arg("steps"), py::arg("share") = 1.0,
           py::arg("think_ms") = 0.0);
}

std::unique_ptr<LoadGenerator> make_generator(const std::string& address,
                                              const std::vector<ClassSpec>& classes,
                                              std::size_t connections,
                                              std::optional<double> rate_per_s, std::uint64_t seed,
                                              double ramp_s, std::size_t backlog_limit,
                                              double drain_timeout_s, double connect_timeout_s) {
  const py::gil_scoped_release release;
  return std::make_unique<LoadGenerator>(Settings{address, classes, connections, rate_per_s, seed,
                                                  ramp_s, backlog_limit, drain_timeout_s,
                                                  connect_timeout_s});
}

void bind_generator(py::module_& module) {
  const Settings defaults;
  py::class_<LoadGenerator>(module, "LoadGenerator", "Drives all connections from one thread.")
      .def(py::init(&make_generator), py::kw_only(), py::arg("address"), py::arg("classes"),
           py::arg("connections"), py::arg("rate_per_s") = py::none(), py::arg("seed") = 0,
           py::arg("ramp_s") = defaults.ramp_s, py::arg("backlog_limit") = defaults.backlog_limit,
           py::arg("drain_timeout_s") = defaults.drain_timeout_s,
           py::arg("connect_timeout_s") = defaults.connect_timeout_s)
      .def("run", &LoadGenerator::run, py::call_guard<py::gil_scoped_release>(),
           "Sends until a stop is requested or no connection is left, then drains and closes.")
      .def(
          "report", [](const LoadGenerator& generator) { return to_dict(generator.report()); },
          "Everything counted since the start, latencies as (bucket, count) pairs.")
      .def("set_rate", &LoadGenerator::set_rate, py::arg("rate_per_s"),
           "Changes the arrival rate of an open loop.")
      .def("request_stop", &LoadGenerator::request_stop, "Makes run drain and return.")
      .def_property_readonly_static(
          "BUCKETS", [](const py::object&) { return kBuckets; },
          "Number of buckets of a latency histogram.");
}

}  // namespace

void bind_load(py::module_& module) {
  bind_step(module);
  bind_class(module);
  bind_generator(module);
}

}  // namespace poolpilot
