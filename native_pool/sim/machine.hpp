// The machine, and what the pool's own work costs on it. All durations are means; those of the
// pool's work are constant. What each one means stands once, in machine.cpp.
#pragma once

#include <span>
#include <tuple>

#include "settings/setting.hpp"
#include "sim/contention.hpp"

namespace poolpilot::sim {

struct Machine {
  int cpus = 2;
  Contention contention;
  double overhead_us = 10.0;
  double wake_us = 5.0;
  double wake_cost_us = 2.0;
  double create_us = 50.0;
  double peek_us = 1.0;
  double piece_us = 0.0;
  double timer_slack_us = 0.0;
  double client_us = 0.0;
  bool client_shares = false;
  double waiter_growth = 0.0;
  int disks = 0;
  int disk_channels = 1;
  double flush_us = 0.0;
  bool flush_reported = true;

  static std::span<const SettingField<Machine>> fields();
  static constexpr auto parts() { return std::tuple(&Machine::contention); }
};

}  // namespace poolpilot::sim
