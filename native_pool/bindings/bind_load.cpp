// The load generator for its own process: plain Python types, so that the child needs no numpy.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bindings/bind_settings.hpp"
#include "load/generator.hpp"

namespace poolpilot {
namespace {

using namespace py::literals;
using load::ClassReport;
using load::ClassSpec;
using load::LoadGenerator;
using load::LoadSettings;
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
  return py::dict("sent"_a = report.sent, "completed"_a = report.completed,
                  "failed"_a = report.failed, "refused"_a = report.refused, "lost"_a = report.lost,
                  "undelivered"_a = report.undelivered,
                  "latency_counts"_a = sparse(report.latency_us),
                  "latency_total_us"_a = report.latency_us.total,
                  "latency_total_squares_us"_a = report.latency_us.total_squares);
}

py::dict to_dict(const Report& report) {
  const py::dict classes;
  for (const ClassReport& one : report.classes) classes[py::str(one.name)] = to_dict(one);
  return py::dict(
      "time_s"_a = report.time_s, "unexpected"_a = report.unexpected, "backlog"_a = report.backlog,
      "dropped"_a = report.dropped, "unsent"_a = report.unsent,
      "connections"_a = report.connections, "process_cpu_s"_a = report.process_cpu_s,
      "errors"_a = report.errors, "send_delay_counts"_a = sparse(report.send_delay_us),
      "send_delay_total_us"_a = report.send_delay_us.total,
      "loop"_a = py::dict("wall_s"_a = report.loop.wall_s, "cpu_s"_a = report.loop.cpu_s,
                          "waited_s"_a = report.loop.waited_s),
      "classes"_a = classes);
}

void bind_step(py::module_& module) {
  py::class_<StepSpec>(module, "LoadStep", "One step of a request, as workload.Step.")
      .def(py::init([](const std::string& op, double us, double variation, const std::string& kind,
                       bool reported, int latch, int spread, int spin_us, double waiter_cost_us,
                       const std::string& priority) {
             return StepSpec{static_cast<Op>(index_named("op", kOpNames, op) + 1),
                             us,
                             variation,
                             static_cast<WaitKind>(index_named("kind", kWaitKindNames, kind)),
                             static_cast<SessionPriority>(
                                 index_named("priority", kSessionPriorityNames, priority)),
                             reported,
                             latch,
                             spread,
                             spin_us,
                             waiter_cost_us};
           }),
           py::kw_only(), py::arg("op"), py::arg("us") = 0.0, py::arg("variation") = 0.0,
           py::arg("kind") = "sleep", py::arg("reported") = false, py::arg("latch") = 0,
           py::arg("spread") = 1, py::arg("spin_us") = 0, py::arg("waiter_cost_us") = 0.0,
           py::arg("priority") = "auto");
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
                                              std::size_t part, std::size_t parts,
                                              const py::kwargs& values) {
  Settings settings;
  static_cast<LoadSettings&>(settings) = settings_with(LoadSettings(), values);
  settings.address = address;
  settings.classes = classes;
  settings.connections = connections;
  settings.rate_per_s = rate_per_s;
  settings.seed = seed;
  settings.part = {part, parts};
  return std::make_unique<LoadGenerator>(std::move(settings));
}

void bind_generator(py::module_& module) {
  py::class_<LoadGenerator>(module, "LoadGenerator",
                            "Drives all connections from one thread; `fields` tells the other "
                            "keywords.")
      .def(py::init(&make_generator), py::kw_only(), py::arg("address"), py::arg("classes"),
           py::arg("connections"), py::arg("rate_per_s") = py::none(), py::arg("seed") = 0,
           py::arg("part") = 0, py::arg("parts") = 1)
      .def_static("fields", &setting_table<LoadSettings>, kFieldsText)
      .def("connect", &LoadGenerator::connect, py::call_guard<py::gil_scoped_release>(),
           "Makes all connections.")
      .def("run", &LoadGenerator::run, py::call_guard<py::gil_scoped_release>(),
           "Sends until a stop is requested or no connection is left, then drains and closes.")
      .def(
          "report", [](const LoadGenerator& generator) { return to_dict(generator.report()); },
          "Everything counted since the start, latencies as (bucket, count) pairs.")
      .def("set_rate", &LoadGenerator::set_rate, py::arg("rate_per_s"),
           "Changes the arrival rate of an open loop.")
      .def("request_stop", &LoadGenerator::request_stop, "Makes run drain and return.")
      .def_static("bucket_of", &bucket_of, py::arg("value"),
                  "Index of the bucket of a histogram that holds a value.")
      .def_property_readonly_static(
          "MAX_PARTS", [](const py::object&) { return load::kMaxParts; },
          "Most generators that may share a load.")
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
