#include "load/settings.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "settings/range.hpp"

namespace poolpilot::load {
namespace {

constexpr int kMaxSpinUs = 0xFFFF >> kSpinShift;
constexpr double kMaxWaiterCostUs = kMaxWaiterCostNs / 1e3;  // the wire carries no more
constexpr double kDaySeconds = 86'400.0;

using S = LoadSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    {&S::ramp_s, "ramp_s", "seconds", 0, kDaySeconds,
     "The first requests of a closed loop are spread over it."},
    {&S::backlog_limit, "backlog_limit", "arrivals", 0, 1e9,
     "Arrivals of an open loop that may wait for a connection."},
    {&S::drain_timeout_s, "drain_timeout_s", "seconds", 0, kDaySeconds,
     "How long a stop waits for the last responses."},
    {&S::connect_timeout_s, "connect_timeout_s", "seconds", 1e-3, kDaySeconds,
     "How long a connection may take to be made while no other is."},
    {&S::reconnect, "reconnect", "switch", 0, 1,
     "Every request has a connection of its own, made for it and closed after the answer."},
    {&S::reset_on_close, "reset_on_close", "switch", 0, 1,
     "TCP connections are closed with a reset, which keeps no local port in TIME_WAIT."}};

void check_step(const StepSpec& step, const std::string& where) {
  constexpr int kLatchCount = static_cast<int>(kLatches);
  check_range(where + " us", step.us, 0, kMaxStepUs);
  check_range(where + " variation", step.variation, 0, kMaxVariation);
  check_range(where + " latch", step.latch, 0, kLatchCount - 1);
  check_range(where + " spread", step.spread, 1, kLatchCount - step.latch);
  check_range(where + " spin_us", step.spin_us, 0, kMaxSpinUs);
  check_range(where + " waiter_cost_us", step.waiter_cost_us, 0, kMaxWaiterCostUs);
}

void check_class(const ClassSpec& spec) {
  const std::string where = "class '" + spec.name + "'";
  check_range(where + " share", spec.share, 0, 1e9);
  check_range(where + " think_ms", spec.think_ms, 0, kDaySeconds * 1e3);
  check_range(where + " number of steps", spec.steps.size(), 0, kMaxSteps);
  double program_us = 0.0;
  for (std::size_t i = 0; i < spec.steps.size(); ++i) {
    check_step(spec.steps[i], where + " step " + std::to_string(i));
    program_us += spec.steps[i].us;
  }
  check_range(where + " sum of us", program_us, 0, kMaxProgramUs);
}

}  // namespace

std::span<const Field> LoadSettings::fields() { return kFields; }

void check(const Settings& settings) {
  check_range("number of connections", settings.connections, 1, kMaxConnections);
  if (settings.rate_per_s) check_rate(*settings.rate_per_s);
  check_classes(settings.classes, settings.connections, settings.rate_per_s.has_value());
  require_ranges<LoadSettings>(settings);
  const std::size_t most_parts = std::min(kMaxParts, settings.connections);
  check_range("number of parts", settings.part.of, 1, static_cast<double>(most_parts));
  check_range("part", settings.part.number, 0, static_cast<double>(settings.part.of - 1));
}

void check_classes(const std::vector<ClassSpec>& classes, std::size_t connections, bool open_loop) {
  check_range("number of classes", classes.size(), 1, kClasses);
  std::set<std::string> names;
  std::size_t sending = 0;
  for (const ClassSpec& spec : classes) {
    check_class(spec);
    sending += spec.share > 0.0 ? 1 : 0;
    if (!names.insert(spec.name).second) {
      throw std::invalid_argument("Two classes are named '" + spec.name + "'; names must differ.");
    }
  }
  if (sending == 0) throw std::invalid_argument("No class has a share above 0; give one a share.");
  if (!open_loop && connections < sending) {
    throw std::invalid_argument("A closed loop of " + std::to_string(sending) +
                                " classes needs at least as many connections; it has " +
                                std::to_string(connections) + ".");
  }
}

void check_rate(double rate_per_s) { check_range("rate_per_s", rate_per_s, 1e-3, kMaxRatePerS); }

}  // namespace poolpilot::load
