// What a simulation is told: the machine, the load, and the pool on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/settings.hpp"
#include "policy/group_machine.hpp"
#include "pool/tuple.hpp"
#include "sim/contention.hpp"

namespace poolpilot::sim {

inline constexpr std::size_t kMaxSimulatedConnections = 65'536;

// The machine, and what the pool's own work costs on it. All durations are means; those of the
// pool's work are constant.
struct Machine {
  int cpus = 2;
  Contention contention;
  double overhead_us = 10.0;  // processor time of a request outside its program: receive, send, arm
  double wake_us = 5.0;       // from waking a thread until it runs
  double wake_cost_us = 2.0;  // processor time that a woken thread pays before its next work
  double create_us = 50.0;    // from asking for a thread until it runs
  double piece_us = 0.0;      // work is done in pieces of this processor time; 0: to the point
  double timer_slack_us = 0.0;  // a wait lasts so much longer than the program says
  double client_us = 0.0;       // time the load generator, a single thread, needs for a request
  bool client_shares = false;   // whether it runs on these processors, or on others
  double waiter_growth = 0.0;   // a latch's waiter costs so much more for each waiter a processor
  int disks = 0;                // 0: a disk wait lasts as long as it says; else it queues at a disk
  int disk_channels = 1;        // waits served at once by each disk
  double flush_us = 0.0;  // a commit waits for a flush that serves all commits before it; 0: none
  bool flush_reported = true;  // whether the pool is told of that wait
};

// A change of the load at a time; what is not set stays.
struct LoadChange {
  double at_s = 0.0;
  std::optional<double> rate_per_s;    // open loop
  std::optional<int> connections;      // closed loop: how many send, 0..connections of the load
  std::optional<double> think_factor;  // closed loop: pauses are this many times as long
  std::vector<double> shares;          // the mix from then on; empty: as before
};

struct Load {
  std::vector<load::ClassSpec> classes;
  int connections = 1;
  std::optional<double> rate_per_s;  // arrivals of an open loop; none is a closed loop
  std::uint64_t seed = 0;
  double ramp_s = 0.2;  // the first requests of a closed loop are spread over it
  int backlog_limit = 100'000;
  std::vector<LoadChange> changes;  // in order of time
};

struct SimulationSettings {
  Machine machine;
  Load load;
  PoolTuple tuple;
  GroupSettings group;  // oversubscribe, timer and create_thread_on_wait come from the tuple
  int max_pool_size = 4096;
  int max_threads = 65'536;
  int prio_kickup_ms = 1000;
  double latch_timeout_s = 5.0;  // 0: never, then a deadlock ends the simulation
  bool record_events = false;    // keep every group's events for replay
};

// Throws std::invalid_argument that names the field, its value and its range.
void check(const SimulationSettings& settings);

}  // namespace poolpilot::sim
