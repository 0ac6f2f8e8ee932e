// The three-state baseline: scales while it pays, settles, and explores the other way.
#pragma once

#include "climb/climber.hpp"

namespace poolpilot {

struct ThreeStateSettings {
  double interval_s = 1.0;        // length of a sample; each brings one decision
  double stability_factor = 0.9;  // smaller throughput over the larger from which nothing changed
  int first_step = 1;             // and an exploring one, in threads
  int step_growth = 1;            // by which each further step is longer
  int longest_step = 4;
  double pause_after_scaling_s = 0.0;    // before it explores; at least one sample
  double pause_after_exploring_s = 2.0;  // after an exploring step was taken back
};

enum class ScalingState { kStartup, kScaling, kSettled, kExploring };

// The scheme of J. Timm's master thesis (An OS-level adaptive thread pool scheme for I/O-heavy
// workloads, TU Delft 2021), restated from his program, the master branch of GitHub repository
// jannes-thesis/scaling-adapter, with its defaults. Each decision compares the latest interval
// with the one before it. Startup takes a step up. Scaling goes on with a longer step after a rise,
// undoes the step after a fall, and otherwise keeps it; the last two settle. Settled pauses and
// then explores one thread against the last direction. Exploring scales on after a rise, and
// otherwise steps back and settles for longer. A change within the stability factor is none.
//
// Changed: it compares throughput where he compares bytes read and written per millisecond, unless
// told of another metric. He leaves out intervals in which the threads changed; a sample here is of
// one size. Steps lengthen downwards too, where he adds one to a negative step and so comes to a
// halt. A step is undone to the size before it, also one cut short by a limit and one down to a
// single thread, which he keeps. A size set by somebody else starts it again from there. His later
// branches (v-3 to v-8) also weigh the queue, the spread or time in system calls, and go on
// exploring downwards while nothing is lost; they are not restated.
class ThreeStateClimber final : public Climber {
 public:
  // Throws std::invalid_argument on sizes outside the limits.
  ThreeStateClimber(const ThreeStateSettings& settings, int initial_size, SizeLimits limits);

  double period_s() const override { return settings_.interval_s; }
  ScalingState state() const { return state_; }

  // Threads of the latest step, negative downwards; 0 before the first.
  int step() const { return step_; }

 protected:
  int next(const Sample& sample) override;

 private:
  int decide(const Sample& sample);
  int scale(const Sample& sample);
  int stay_settled(const Sample& sample);
  int explore(const Sample& sample);
  int take_step(ScalingState state, int step, int size);
  int settle(double pause_s, int size);
  int longer_step() const;
  bool rose(const Sample& sample) const;
  bool fell(const Sample& sample) const;

  ThreeStateSettings settings_;
  ScalingState state_ = ScalingState::kStartup;
  int step_ = 0;
  double pause_left_s_ = 0.0;
  int size_before_ = 0;  // of the sample before the one being judged
  double throughput_before_ = 0.0;
};

}  // namespace poolpilot
