// Netflix's Gradient2: a limit that shrinks as latency rises over its long-term mean.
#pragma once

#include <span>

#include "climb/baselines/moving_average.hpp"
#include "climb/climber.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

struct Gradient2Settings {
  double smoothing = 0.2;
  double queue_size = 4.0;
  double tolerance = 1.0;
  int long_window = 600;
  double interval_s = 1.0;

  static std::span<const SettingField<Gradient2Settings>> fields();

  // Throws std::invalid_argument naming the first setting that is out of its range.
  void validate() const;
};

// The size is a limit of concurrency, the latency that of the work inside it, without the wait for
// a place. Restated from Gradient2Limit.java of Netflix's concurrency-limits:
//   g  = clamp(tolerance x long / short, 0.5, 1),
//   L' = (1 - smoothing) L + smoothing (g L + queue_size),
// where short is the latency of the sample and long its exponential mean over `long_window`
// samples, a plain one over the first ten. Where long is more than twice short, it is cut by a
// tenth: the bad time is over. The limit does not change while fewer than half of it are inside. It
// is real-valued and cut to whole places. Older releases had a tolerance of 1.5.
//
// Their sample is one window of requests, as ours. A limit set by somebody else is gone on from.
class Gradient2Climber final : public Climber {
 public:
  // Throws std::invalid_argument on settings out of range or sizes outside the limits.
  Gradient2Climber(const Gradient2Settings& settings, int initial_size, SizeLimits limits);

  double period_s() const override { return settings_.interval_s; }

 protected:
  int next(const Sample& sample) override;

 private:
  Gradient2Settings settings_;
  MovingAverage long_latency_s_;
  double limit_;
};

}  // namespace poolpilot
