// What a simulation is told: the machine, the load, and the pool on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "load/settings.hpp"
#include "pool/settings.hpp"
#include "sim/machine.hpp"

namespace poolpilot::sim {

inline constexpr std::size_t kMaxSimulatedConnections = 65'536;

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

struct SimulationSettings : PoolSettings {
  // A simulated group costs nothing until it is used, so the ceiling is none that anybody meets.
  SimulationSettings() { max_pool_size = kMaxGroups; }

  Machine machine;
  Load load;
  double latch_timeout_s = 5.0;

  static std::span<const SettingField<SimulationSettings>> fields();
  static constexpr auto parts() { return std::tuple(BasePart<PoolSettings>()); }
};

// Throws std::invalid_argument that names the field, its value and its range.
void check(const SimulationSettings& settings);

}  // namespace poolpilot::sim
