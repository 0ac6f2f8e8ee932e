// Workloads and settings that tests of the simulator share.
#pragma once

#include <string>
#include <vector>

#include "sim/pool.hpp"

namespace poolpilot::sim {

inline load::StepSpec cpu(double us, double variation = 0.0) {
  load::StepSpec step;
  step.op = Op::kCpu;
  step.us = us;
  step.variation = variation;
  return step;
}

inline load::StepSpec wait(double us, bool reported, WaitKind kind = WaitKind::kSleep) {
  load::StepSpec step;
  step.op = Op::kWait;
  step.us = us;
  step.kind = kind;
  step.reported = reported;
  return step;
}

inline load::StepSpec latch(Op op, int number, int spin_us = 0, double waiter_cost_us = 0.0) {
  load::StepSpec step;
  step.op = op;
  step.latch = number;
  step.spin_us = spin_us;
  step.waiter_cost_us = waiter_cost_us;
  return step;
}

inline load::StepSpec plain(Op op) {
  load::StepSpec step;
  step.op = op;
  return step;
}

inline load::ClassSpec class_of(const std::string& name, std::vector<load::StepSpec> steps,
                                double think_ms = 0.0) {
  return {name, std::move(steps), 1.0, think_ms};
}

inline SimulationSettings settings_of(std::vector<load::ClassSpec> classes, int connections) {
  SimulationSettings settings;
  settings.load.classes = std::move(classes);
  settings.load.connections = connections;
  settings.load.ramp_s = 0.0;
  settings.tuple.timer_interval_ms = 10;
  settings.record_events = true;
  return settings;
}

// Two connections that take two latches in opposite order.
inline SimulationSettings opposite_latches(double latch_timeout_s) {
  SimulationSettings settings = settings_of(
      {class_of("up", {latch(Op::kAcquire, 3), wait(100, false), latch(Op::kAcquire, 4)}),
       class_of("down", {latch(Op::kAcquire, 4), wait(100, false), latch(Op::kAcquire, 3)})},
      2);
  settings.tuple.pool_size = 2;
  settings.latch_timeout_s = latch_timeout_s;
  return settings;
}

inline double counter(const SimulatedPool& pool, const std::string& name) {
  return pool.snapshot().counters.at(name);
}

// Answers a second of virtual time once the first `warm_s` are over.
inline double throughput_per_s(SimulatedPool& pool, double warm_s, double seconds) {
  RunLimits limits;
  limits.until_s = warm_s;
  pool.run(limits);
  const auto before = static_cast<double>(pool.answered());
  limits.until_s = warm_s + seconds;
  pool.run(limits);
  return (static_cast<double>(pool.answered()) - before) / seconds;
}

}  // namespace poolpilot::sim
