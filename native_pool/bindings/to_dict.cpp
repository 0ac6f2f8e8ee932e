#include "bindings/to_dict.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings/bind_settings.hpp"

namespace poolpilot {

py::dict to_dict(const PoolTuple& tuple) { return settings_as_dict(tuple); }

PoolTuple tuple_of(const py::kwargs& values) {
  for (const char* name : {"pool_size", "oversubscribe", "timer_interval_ms"}) {
    if (!values.contains(name)) throw py::type_error(std::string("a tuple needs ") + name);
  }
  return settings_with(PoolTuple(), values);
}

py::dict to_dict(const PoolSnapshot& snapshot) {
  using namespace py::literals;
  const py::dict histograms;
  for (const auto& [name, histogram] : snapshot.histograms) {
    const py::array_t<std::int64_t> counts(static_cast<py::ssize_t>(histogram.counts.size()),
                                           histogram.counts.data());
    histograms[py::str(name)] = py::make_tuple(counts, histogram.total, histogram.total_squares);
  }
  return py::dict("time_s"_a = snapshot.time_s, "tuple_epoch"_a = snapshot.tuple_epoch,
                  "pool_tuple"_a = to_dict(snapshot.tuple), "counters"_a = snapshot.counters,
                  "gauges"_a = snapshot.gauges, "histograms"_a = histograms);
}

}  // namespace poolpilot
