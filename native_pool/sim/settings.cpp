#include "sim/settings.hpp"

#include <sstream>
#include <stdexcept>

namespace poolpilot::sim {
namespace {

constexpr double kDayUs = 86'400e6;

void check_range(const std::string& what, double value, double low, double high) {
  if (value >= low && value <= high) return;  // false for NaN
  std::ostringstream text;
  text << what << " is " << value << "; it must lie in " << low << ".." << high << ".";
  throw std::invalid_argument(text.str());
}

void check(const Machine& machine) {
  check_range("cpus", machine.cpus, 1, 1024);
  // Without any overhead a request of no work would take no time, and time would stand still.
  check_range("overhead_us", machine.overhead_us, 0.1, kDayUs);
  check_range("wake_us", machine.wake_us, 0, kDayUs);
  check_range("wake_cost_us", machine.wake_cost_us, 0, kDayUs);
  check_range("create_us", machine.create_us, 0, kDayUs);
  check_range("piece_us", machine.piece_us, 0, kDayUs);
  check_range("timer_slack_us", machine.timer_slack_us, 0, kDayUs);
  check_range("client_us", machine.client_us, 0, kDayUs);
  check_range("waiter_growth", machine.waiter_growth, 0, 1e6);
  check_range("disks", machine.disks, 0, 1024);
  check_range("disk_channels", machine.disk_channels, 1, 1024);
  check_range("flush_us", machine.flush_us, 0, kDayUs);
  const Contention& contention = machine.contention;
  check_range("switch_us", contention.switch_us, 0, 1e6);
  check_range("quantum_us", contention.quantum_us, 1, 1e7);
  check_range("credit_us", contention.credit_us, 0, 1e7);
  check_range("cache_loss", contention.cache_loss, 0, 100);
  check_range("seed_loss", contention.seed_loss, 0, 1);
}

void check(const Load& load) {
  check_range("number of connections", load.connections, 1,
              static_cast<double>(kMaxSimulatedConnections));
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
    check_range("number of shares of a load change", static_cast<double>(change.shares.size()),
                static_cast<double>(load.classes.size()), static_cast<double>(load.classes.size()));
    double sum = 0.0;
    for (const double share : change.shares) {
      check_range("share of a load change", share, 0, 1e9);
      sum += share;
    }
    check_range("sum of the shares of a load change", sum, 1e-9, 1e12);
  }
}

}  // namespace

void check(const SimulationSettings& settings) {
  check(settings.machine);
  check(settings.load);
  check_range("max_pool_size", settings.max_pool_size, 1, 4096);
  check_range("max_threads", settings.max_threads, 2, 65'536);
  check_range("prio_kickup_ms", settings.prio_kickup_ms, 0, 3'600'000);
  check_range("latch_timeout_s", settings.latch_timeout_s, 0, 86'400);
  poolpilot::check(settings.tuple, settings.max_pool_size);
}

}  // namespace poolpilot::sim
