// The baseline of MongoDB: tries one step, keeps a fifth of it when throughput rose.
#pragma once

#include "climb/climber.hpp"

namespace poolpilot {

struct ProbingSettings {
  double step_multiple = 0.1;          // length of a probe, as a share of the stable size
  double moving_average_weight = 0.2;  // of a successful probe in the new stable size
  double interval_s = 0.1;             // length of a sample; every second one is at the stable size
};

enum class ProbingState { kStable, kUp, kDown };

// MongoDB's throughput probing (execution control, on by default since 7.0), restated from its
// README and throughput_probing.cpp for one pool where MongoDB has two. At the stable size it notes
// the throughput and probes: up when requests have used the whole pool and it may grow, else down
// when more threads than the fewest allowed are used. A probe that gave more than the stable size
// pulls the real-valued stable size towards it; either way the next sample is at the stable size. A
// failed probe up is not followed by one down, so a pool that is used up shrinks only at the limit.
//
// MongoDB counts the most tickets in use; here the busiest moment of an interval is estimated from
// throughput x latency (Little's law), or where no latency is known from the open connections;
// where neither is known, a pool that works counts as used up. A size set by somebody else becomes
// the stable one.
class ProbingClimber final : public Climber {
 public:
  // Throws std::invalid_argument on sizes outside the limits.
  ProbingClimber(const ProbingSettings& settings, int initial_size, SizeLimits limits);

  double period_s() const override { return settings_.interval_s; }
  double stable_size() const { return stable_size_; }
  ProbingState state() const { return state_; }

 protected:
  int next(const Sample& sample) override;

 private:
  int start_probe(const Sample& sample);
  int end_probe(const Sample& sample);

  ProbingSettings settings_;
  ProbingState state_ = ProbingState::kStable;
  double stable_size_;
  double stable_throughput_ = 0.0;
};

}  // namespace poolpilot
