// What a load generator is told to send: the typed form of a workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "load/part.hpp"
#include "queues/step.hpp"
#include "settings/setting.hpp"

namespace poolpilot::load {

inline constexpr std::size_t kMaxConnections = 65'536;
inline constexpr std::size_t kMaxParts = 64;
inline constexpr double kMaxRatePerS = 1e6;
inline constexpr double kMaxVariation = 10.0;
inline constexpr double kRetryPauseMs = 10.0;  // mean, of a closed loop that was refused

struct StepSpec {
  Op op = Op::kCpu;
  double us = 0.0;         // mean duration of a Cpu or Wait
  double variation = 0.0;  // its coefficient of variation, drawn per request
  WaitKind kind = WaitKind::kSleep;
  SessionPriority priority = SessionPriority::kAuto;  // Declare
  bool reported = false;
  int latch = 0;
  int spread = 1;  // Acquire draws from latch..latch+spread-1; the Release of that latch follows
  int spin_us = 0;
  double waiter_cost_us = 0.0;
};

struct ClassSpec {
  std::string name;
  std::vector<StepSpec> steps;
  double share = 1.0;
  double think_ms = 0.0;
};

// How load is put on a server, whatever the workload. What each one means stands in the table.
struct LoadSettings {
  double ramp_s = 0.2;
  int backlog_limit = 100'000;
  double drain_timeout_s = 10.0;
  double connect_timeout_s = 5.0;
  bool reconnect = false;
  bool reset_on_close = false;

  static std::span<const SettingField<LoadSettings>> fields();
};

// Connections, rate, backlog_limit and seed are those of the whole, whatever the part.
struct Settings : LoadSettings {
  std::string address;  // "tcp:127.0.0.1:PORT" or "unix:/path"
  std::vector<ClassSpec> classes;
  std::size_t connections = 1;
  std::optional<double> rate_per_s;  // arrivals of an open loop; none is a closed loop
  std::uint64_t seed = 0;
  Part part;
};

// Throw std::invalid_argument with one sentence that names the field and its range.
void check(const Settings& settings);
void check_rate(double rate_per_s);
void check_classes(const std::vector<ClassSpec>& classes, std::size_t connections, bool open_loop);

}  // namespace poolpilot::load
