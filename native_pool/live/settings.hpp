// What a live pool is told: knobs that may change while it serves, and what is fixed at its start.
#pragma once

#include <string>
#include <vector>

#include "live/executor.hpp"
#include "policy/group_machine.hpp"
#include "pool/tuple.hpp"

namespace poolpilot {

struct LivePoolSettings {
  std::string address = "tcp:127.0.0.1:0";  // or unix:/path; port 0 takes a free one
  PoolTuple tuple;
  GroupSettings group;      // oversubscribe, timer and create_thread_on_wait come from the tuple
  std::vector<int> cpus;    // processors the threads are pinned to; empty: all of the process
  int max_pool_size = 128;  // ceiling of pool_size until the next start
  int max_connections = 2048;
  int max_threads = 65536;
  int prio_kickup_ms = 1000;
  double wait_timeout_s = 28'800;  // a client that is silent for longer is closed, as in MariaDB
  ExecutorSettings executor;
  std::vector<std::string> class_names;  // names of classes 0.. in snapshots
  bool record_events = false;            // keep every group's events for replay
};

// Throws std::invalid_argument that names the field, its value and its range.
void check(const LivePoolSettings& settings);

}  // namespace poolpilot
