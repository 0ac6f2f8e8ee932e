#include "networks/network_spec.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "settings/range.hpp"

namespace poolpilot::sim {
namespace {

constexpr double kRounding = 1e-9;

void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

void check_size(const char* name, std::size_t size, std::size_t wanted, const char* why) {
  if (size != wanted) refuse_setting(name, size, std::to_string(wanted) + why);
}

void check_probabilities(const char* name, const std::vector<double>& row, std::size_t most) {
  check_range(std::string("number of ") + name, row.size(), 0, static_cast<double>(most));
  double sum = 0.0;
  for (const double probability : row) {
    check_range(name, probability, 0, 1);
    sum += probability;
  }
  if (sum > 1.0 + kRounding) refuse_setting(std::string("sum of ") + name, sum, "at most 1");
}

void check_customers(const NetworkSpec& spec) {
  require(spec.classes() >= 1, "a network needs rate_per_s or population of at least one class");
  require(spec.rate_per_s.empty() || spec.population.empty(),
          "a network is open (rate_per_s) or closed (population), not both");
  for (const double rate : spec.rate_per_s) check_range("rate_per_s", rate, 0, 1e9);
  for (const int count : spec.population) check_range("population", count, 0, 1e6);
}

void check_places(const NetworkSpec& spec) {
  if (spec.routes.places.empty()) {
    require(spec.routes.becomes.empty(), "becomes needs the places of all classes");
    return;
  }
  const std::size_t classes = spec.classes();
  check_size("number of places", spec.routes.places.size(), classes, ", one for each class");
  const double last = static_cast<double>(spec.stations.size()) - 1;
  for (const int place : spec.routes.places) check_range("place", place, 0, last);
  check_size("number of rows of becomes", spec.routes.becomes.size(), classes,
             ", one for each class");
  for (const std::vector<double>& row : spec.routes.becomes)
    check_probabilities("becomes", row, classes);
  require(spec.population.empty(),
          "classes have places in an open network only, without population");
}

void check_means(const NetworkSpec& spec, std::size_t station) {
  const std::vector<double>& means = spec.stations[station].mean_s;
  check_size("number of mean_s", means.size(), spec.classes(), ", one for each class");
  for (std::size_t i = 0; i < means.size(); ++i) {
    const bool here = spec.routes.places.empty() || std::cmp_equal(spec.routes.places[i], station);
    if (here) check_range("mean_s", means[i], 1e-9, 1e6);
    if (!here && means[i] != 0.0)
      refuse_setting("mean_s", means[i], "0 where a class has no place");
  }
}

// What the order of service goes by.
void check_order(const StationSpec& station, std::size_t classes) {
  check(station.queues);
  require(station.service == Service::kQueued || station.queues == one_queue(),
          "a discipline and queues have a meaning only where the service is queued");
  if (station.service != Service::kPreemptive) {
    check_size("number of weights", station.claims.weights.size(), 0,
               " where the service is not preemptive");
    if (station.claims.queue_power != 0.0) {
      refuse_setting("queue_power", station.claims.queue_power,
                     "0 where the service is not preemptive");
    }
    return;
  }
  check_range("channels of a preemptive station", station.channels, 1, 1);
  check_size("number of weights", station.claims.weights.size(), classes, ", one for each class");
  for (const double weight : station.claims.weights) check_range("weight", weight, 0, 1e9);
  check_range("queue_power", station.claims.queue_power, 0, 10);
}

void check_station(const NetworkSpec& spec, std::size_t index) {
  const StationSpec& station = spec.stations[index];
  check_range("channels", station.channels, 1, 1e6);
  check_means(spec, index);
  check_range("variation", station.variation, 0, 10);
  check_range("spread", station.spread, 0, 1);
  if (station.spread > 0.0 && station.variation != 1.0) {
    refuse_setting("variation", station.variation, "1 where there is a spread");
  }
  check_probabilities("next", station.next, spec.stations.size());
  require(spec.routes.places.empty() || station.next.empty(),
          "next must be empty where classes have places: becomes says where they go");
  check_order(station, spec.classes());
}

}  // namespace

void check(const NetworkSpec& spec) {
  check_customers(spec);
  require(!spec.stations.empty(), "a network needs at least one station");
  check_places(spec);
  for (std::size_t i = 0; i < spec.stations.size(); ++i) check_station(spec, i);
}

}  // namespace poolpilot::sim
