#include "sim/settings.hpp"

#include <stdexcept>

namespace poolpilot::sim {
namespace {

using Field = SettingField<SimulationSettings>;

constexpr Field kFields[] = {
    {&SimulationSettings::latch_timeout_s, "latch_timeout_s", "seconds", 0, 86'400,
     "Time after which a wait for a latch fails; 0: never, a deadlock then ends the simulation."}};

void check(const Load& load) {
  check_range("number of connections", load.connections, 1, kMaxSimulatedConnections);
  load::check_classes(load.classes, static_cast<std::size_t>(load.connections),
                      load.rate_per_s.has_value());
  if (load.rate_per_s) check_range("rate_per_s", *load.rate_per_s, 1e-3, 1e9);
  check_range("ramp_s", load.ramp_s, 0, 86'400);
  check_range("backlog_limit", load.backlog_limit, 0, 1e9);
  double before_s = 0.0;
  for (const LoadChange& change : load.changes) {
    check_range("at_s of a load change", change.at_s, before_s, 1e9);
    before_s = change.at_s;
    if (change.rate_per_s)
      check_range("rate_per_s of a load change", *change.rate_per_s, 1e-3, 1e9);
    if (change.rate_per_s && !load.rate_per_s) {
      throw std::invalid_argument("A load change has a rate_per_s, but the loop is closed.");
    }
    if (change.connections) {
      check_range("connections of a load change", *change.connections, 0, load.connections);
    }
    if (change.think_factor)
      check_range("think_factor of a load change", *change.think_factor, 0, 1e6);
    if (change.shares.empty()) continue;
    const auto classes = static_cast<double>(load.classes.size());
    check_range("number of shares of a load change", change.shares.size(), classes, classes);
    double sum = 0.0;
    for (const double share : change.shares) {
      check_range("share of a load change", share, 0, 1e9);
      sum += share;
    }
    check_range("sum of the shares of a load change", sum, 1e-9, 1e12);
  }
}

}  // namespace

std::span<const Field> SimulationSettings::fields() { return kFields; }

void check(const SimulationSettings& settings) {
  require_ranges(settings.machine);
  check(settings.load);
  check_pool(settings);
  require_ranges(settings);
  poolpilot::check(settings.handling.hybrid);
}

}  // namespace poolpilot::sim
