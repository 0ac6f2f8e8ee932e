// What a live pool is told beyond what any pool is. What each one means stands in the tables.
#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "live/executor_settings.hpp"
#include "pool/settings.hpp"

namespace poolpilot {

struct LivePoolSettings : PoolSettings {
  std::string address = "tcp:127.0.0.1:0";  // or unix:/path; port 0 takes a free one
  std::vector<int> cpus;  // processors the threads are pinned to; empty: all of the process
  std::vector<std::string> class_names;  // names of classes 0.. in snapshots
  int max_connections = 2048;
  double wait_timeout_s = 28'800;
  bool hang_up_at_once = true;
  ExecutorSettings executor;

  static std::span<const SettingField<LivePoolSettings>> fields();
  static constexpr auto parts() {
    return std::tuple(BasePart<PoolSettings>(), &LivePoolSettings::executor);
  }
};

// Throws std::invalid_argument that names the field, its value and its range.
void check(const LivePoolSettings& settings);

}  // namespace poolpilot
