// The machine, and what the pool's own work costs on it. All durations are means; those of the
// pool's work are constant. What each one means stands in the table.
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

inline std::span<const SettingField<Machine>> Machine::fields() {
  using S = Machine;
  static constexpr double kDayUs = 86'400e6;
  static constexpr const char* kMicroseconds = "microseconds";
  static constexpr SettingField<S> kFields[] = {
      {&S::cpus, "cpus", "processors", 1, 1024, "Processors, all alike."},
      // Without any overhead a request of no work would take no time, and time would stand still.
      {&S::overhead_us, "overhead_us", kMicroseconds, 0.1, kDayUs,
       "Processor time of a request outside its program: receive, send, arm."},
      {&S::wake_us, "wake_us", kMicroseconds, 0, kDayUs, "From waking a thread until it runs."},
      {&S::wake_cost_us, "wake_cost_us", kMicroseconds, 0, kDayUs,
       "Processor time that a woken thread pays before its next work."},
      {&S::create_us, "create_us", kMicroseconds, 0, kDayUs,
       "From asking for a thread until it runs."},
      {&S::peek_us, "peek_us", kMicroseconds, 0, kDayUs,
       "Processor time of a look at a request's header before it is queued."},
      {&S::piece_us, "piece_us", kMicroseconds, 0, kDayUs,
       "Work is done in pieces of this processor time; 0: to the point."},
      {&S::timer_slack_us, "timer_slack_us", kMicroseconds, 0, kDayUs,
       "A wait lasts so much longer than its program says."},
      {&S::client_us, "client_us", kMicroseconds, 0, kDayUs,
       "Time the load generator, one thread, needs for a request."},
      {&S::client_shares, "client_shares", "switch", 0, 1,
       "Runs the load generator on these processors; off: on others."},
      {&S::waiter_growth, "waiter_growth", "ratio", 0, 1e6,
       "A latch's waiter costs its holder so much more for each waiter a processor: lines that "
       "migrate."},
      {&S::disks, "disks", "disks", 0, 1024,
       "Disks that disk waits queue at; 0: each lasts as long as it says, and all wait at once."},
      {&S::disk_channels, "disk_channels", "waits", 1, 1024, "Waits that a disk serves at once."},
      {&S::flush_us, "flush_us", kMicroseconds, 0, kDayUs,
       "Flush that a commit waits for, one for all commits before it; 0: none."},
      {&S::flush_reported, "flush_reported", "switch", 0, 1, "Tells the pool of that wait."}};
  return kFields;
}

}  // namespace poolpilot::sim
