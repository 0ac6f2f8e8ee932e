// The step program of a class, ready to run: durations in nanoseconds, pairs of latches resolved.
#pragma once

#include <cstdint>
#include <vector>

#include "load/settings.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {

struct ProgramStep {
  Op op = Op::kCpu;
  WaitKind kind = WaitKind::kSleep;
  SessionPriority priority = SessionPriority::kAuto;  // Declare
  bool reported = false;
  bool release_drawn = false;  // a Release of the latch that the Acquire before it has drawn
  std::uint8_t latch = 0;
  std::uint8_t spread = 1;
  double mean_ns = 0.0;  // Cpu, Wait
  double variation = 0.0;
  double spin_ns = 0.0;
  double waiter_cost_ns = 0.0;

  double draw_ns(Random& random) const {
    return variation > 0.0 && mean_ns > 0.0 ? random.gamma(mean_ns, variation) : mean_ns;
  }
};

struct Program {
  std::vector<ProgramStep> steps;
  double think_ns = 0.0;

  explicit Program(const load::ClassSpec& spec);
};

}  // namespace poolpilot::sim
