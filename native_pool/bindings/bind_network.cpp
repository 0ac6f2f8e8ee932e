// Queueing networks for Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bind_queues.hpp"
#include "bindings/guarded.hpp"
#include "networks/network.hpp"

namespace poolpilot {
namespace {

using namespace py::literals;
using sim::Network;
using sim::NetworkCount;
using sim::NetworkSpec;
using sim::Service;
using sim::StationSpec;

constexpr double kMostEvents = 1e15;

py::dict to_dict(const NetworkCount& count) {
  py::list stations;
  for (const sim::StationCount& one : count.stations) {
    stations.append(py::dict("visits"_a = one.visits, "class_visits"_a = one.class_visits,
                             "class_stay_s"_a = one.class_stay_s,
                             "class_wait_s"_a = one.class_wait_s,
                             "class_present_s"_a = one.class_present_s, "busy_s"_a = one.busy_s));
  }
  return py::dict("seconds"_a = count.seconds, "events"_a = count.events, "stations"_a = stations);
}

NetworkCount run_network(Network& network, std::optional<std::int64_t> services,
                         std::optional<std::int64_t> events) {
  if (!services && !events) throw py::type_error("run needs services or events");
  if (services) check_range("services", *services, 1, kMostEvents);
  if (events) check_range("events", *events, 1, kMostEvents);
  bool stopped = false;
  const auto signalled = [&stopped] {
    const py::gil_scoped_acquire acquire;
    return stopped = PyErr_CheckSignals() != 0;
  };
  NetworkCount count;
  {
    const py::gil_scoped_release release;
    count = network.run(services.value_or(Network::kNoLimit), events.value_or(Network::kNoLimit),
                        signalled);
  }
  if (stopped) throw py::error_already_set();
  return count;
}

void bind_station(py::module_& module) {
  using Numbers = std::vector<double>;
  py::class_<StationSpec>(module, "SimulatedStation", "A textbook station of a network.")
      .def(py::init([](const std::string& service, int channels, const Numbers& mean_s,
                       double variation, const Numbers& next, double spread, const Numbers& weights,
                       double queue_power, const py::kwargs& keywords) {
             const std::size_t place = index_named("service", sim::kServiceNames, service);
             QueueSettings queues = sim::one_queue();
             py::dict values(keywords);
             take_queues(values, queues);
             queues = settings_with(queues, values);
             return StationSpec{
                 static_cast<Service>(place), channels, mean_s, variation, next, queues, spread,
                 {weights, queue_power}};
           }),
           py::kw_only(), py::arg("service") = "queued", py::arg("channels") = 1, py::arg("mean_s"),
           py::arg("variation") = 1.0, py::arg("next") = Numbers{}, py::arg("spread") = 0.0,
           py::arg("weights") = Numbers{}, py::arg("queue_power") = 0.0);
}

void bind_one_network(py::module_& module) {
  py::class_<Guarded<Network>>(module, "SimulatedNetwork",
                               "A queueing network on the simulator's engine.")
      .def(py::init([](const std::vector<StationSpec>& stations,
                       const std::vector<double>& rate_per_s, const std::vector<int>& population,
                       std::uint64_t seed, const std::vector<int>& places,
                       const std::vector<std::vector<double>>& becomes) {
             return std::make_unique<Guarded<Network>>(
                 "a network",
                 NetworkSpec{stations, rate_per_s, population, seed, {places, becomes}});
           }),
           py::kw_only(), py::arg("stations"), py::arg("rate_per_s") = std::vector<double>{},
           py::arg("population") = std::vector<int>{}, py::arg("seed") = 0,
           py::arg("places") = std::vector<int>{},
           py::arg("becomes") = std::vector<std::vector<double>>{})
      .def("run",
           guarded(+[](Network& network, std::optional<std::int64_t> services,
                       std::optional<std::int64_t> events) {
             return to_dict(run_network(network, services, events));
           }),
           py::arg("services") = py::none(), py::kw_only(), py::arg("events") = py::none(),
           "Runs until so many services have ended, or so many arrivals and ends of services have "
           "happened, counting from nothing.");
}

}  // namespace

void bind_network(py::module_& module) {
  bind_station(module);
  bind_one_network(module);
}

}  // namespace poolpilot
