#include "sim/program.hpp"

#include <bitset>

namespace poolpilot::sim {

Program::Program(const load::ClassSpec& spec) : think_ns(spec.think_ms * 1e6) {
  std::bitset<kLatches> drawn;
  for (const load::StepSpec& one : spec.steps) {
    ProgramStep step;
    step.op = one.op;
    step.kind = one.kind;
    step.priority = one.priority;
    step.reported = one.reported;
    step.latch = static_cast<std::uint8_t>(one.latch);
    step.spread = static_cast<std::uint8_t>(one.spread);
    step.mean_ns = one.us * 1e3;
    step.variation = one.variation;
    step.spin_ns = one.spin_us * 1e3;
    step.waiter_cost_ns = one.waiter_cost_us * 1e3;
    if (one.op == Op::kAcquire) drawn.set(step.latch);
    step.release_drawn = one.op == Op::kRelease && drawn.test(step.latch);
    steps.push_back(step);
  }
}

}  // namespace poolpilot::sim
