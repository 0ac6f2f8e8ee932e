// The control-theoretic baseline: steps in proportion to the measured gradient of throughput.
#pragma once

#include "climb/baselines/average.hpp"
#include "climb/climber.hpp"

namespace poolpilot {

struct ControlTheorySettings {
  int samples_per_size = 4;      // averaged before the next step: m of the formula
  double control_gain = 5.0;     // g of the formula
  double throughput_unit = 0.1;  // one unit of throughput, as a share of the mean throughput
  double size_unit = 0.08;       // one unit of size, as a share of the size
  double first_step = 0.1;       // where there is no gradient yet, as a share of the size
  double max_step = 0.5;         // as a share of the size
};

// Stochastic approximation as Microsoft's researchers tried it before the signal-processing pool,
// restated from Trub (adaptive pool; docs/references.md, section "Control Theory"):
//   x' = x + sign(D) ceil(a |D|),  D = change of throughput / change of size,
//   a = exp(-s) g / sqrt(k + 1),   s = standard error of the mean throughput at x.
// Trub leaves the units open, but a thousand requests a second more would make every step
// absurd, and one thread means little to a pool of 1024 and everything to one of 2. Throughput
// therefore counts in shares of the mean of the two averages compared, size in shares of the size,
// as `throughput_unit` and `size_unit` say; a step is rounded up to whole threads. With the
// defaults an elasticity of 1 moves the size by 32 % / sqrt(k + 1), and 10 % of noise damps the
// step by 40 %.
//
// D needs two sizes. Where the size has not changed (at the start, at a limit, or when D was 0),
// the next step is `first_step`: up at the start, else back from where the last change led. A size
// set by somebody else starts everything again from there, k included.
class ControlTheoryClimber final : public Climber {
 public:
  // Throws std::invalid_argument on sizes outside the limits.
  ControlTheoryClimber(const ControlTheorySettings& settings, int initial_size, SizeLimits limits);

 protected:
  int next(const Sample& sample) override;

 private:
  void start_again();
  double step_from(int size) const;
  double step_back_from(int size) const;
  double step_along_gradient(int size) const;

  ControlTheorySettings settings_;
  Average average_;
  int previous_size_ = 0;  // 0: there is none yet
  double previous_mean_ = 0.0;
  int moves_ = 0;              // k of the formula
  bool last_went_up_ = false;  // so that the first step goes up
};

}  // namespace poolpilot
