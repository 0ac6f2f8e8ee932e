#include "bindings/to_dict.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <stdexcept>

namespace py = pybind11;

namespace poolpilot {

py::dict to_dict(const PoolTuple& tuple) {
  py::dict fields;
  fields["pool_size"] = tuple.pool_size;
  fields["oversubscribe"] = tuple.oversubscribe;
  fields["timer_interval_ms"] = tuple.timer_interval_ms;
  fields["create_thread_on_wait"] = tuple.create_thread_on_wait;
  fields["idle_timeout_s"] = tuple.idle_timeout_s;
  return fields;
}

py::dict to_dict(const PoolSnapshot& snapshot) {
  py::dict fields;
  fields["time_s"] = snapshot.time_s;
  fields["tuple_epoch"] = snapshot.tuple_epoch;
  fields["pool_tuple"] = to_dict(snapshot.tuple);
  fields["counters"] = snapshot.counters;
  fields["gauges"] = snapshot.gauges;
  py::dict histograms;
  for (const auto& [name, histogram] : snapshot.histograms) {
    const py::array_t<std::int64_t> counts(static_cast<py::ssize_t>(histogram.counts.size()),
                                           histogram.counts.data());
    histograms[py::str(name)] = py::make_tuple(counts, histogram.total, histogram.total_squares);
  }
  fields["histograms"] = histograms;
  return fields;
}

ThrottlePolicy throttle_named(const std::string& name) {
  if (name == "mariadb") return ThrottlePolicy::kMariaDb;
  if (name == "percona") return ThrottlePolicy::kPercona;
  throw std::invalid_argument("throttle '" + name + "' is neither mariadb nor percona");
}

}  // namespace poolpilot
