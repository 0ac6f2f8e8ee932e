// A limit after TCP Vegas with a test of correlation: failsafe-go's adaptive limiter.
#pragma once

#include <span>

#include "climb/baselines/correlation_window.hpp"
#include "climb/baselines/moving_average.hpp"
#include "climb/climber.hpp"
#include "queues/ring.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

struct VegasSettings {
  int alpha = 3;
  int beta = 6;
  double max_limit_factor = 5.0;
  int baseline_window = 10;
  int correlation_window = 50;
  int least_requests = 50;
  double interval_s = 1.0;

  static std::span<const SettingField<VegasSettings>> fields();

  // Throws std::invalid_argument naming the first setting that is out of its range or contradicts
  // another one.
  void validate() const;
};

enum class VegasReason {
  kTooFewRequests,     // the window goes on
  kLongQueue,          // shrinks: more than beta wait inside
  kThroughputFalls,    // shrinks: full, and the more inside, the less throughput
  kOnlyLatencyRises,   // shrinks: full, and more inside raise latency and hardly throughput
  kThroughputIsLevel,  // shrinks: full, and more inside raise latency while throughput stays level
  kShortQueue,         // grows: fewer than alpha wait inside
  kBetween,            // stays
  kFarFromFull,        // shrinks: no use is made of so much
};

// The size is a limit of concurrency, the latency that of the work inside it, without the wait for
// a place. Restated from adaptivelimiter.go of failsafe-go. A window's latency passes a median of
// five and a mean of five; the baseline is a mean of that over `baseline_window` windows. As many
// wait inside as queue = ceil(L (1 - baseline / recent)). With l = max(1, floor(log10 L)) the limit
// shrinks by l where queue > beta l, else grows by l where queue < alpha l. A baseline drifts along
// with a server that is overloaded, so a limit that is full also shrinks where the last
// `correlation_window` windows say that more inside did not mean more throughput, as the reasons
// tell; and one of more than `max_limit_factor` times those inside always does.
//
// Theirs sees every request, ours samples: the mean latency stands for their 90th percentile, the
// mean number inside for their largest, and a limit counts as full where that mean rounds to it.
class VegasClimber final : public Climber {
 public:
  // Throws std::invalid_argument on settings out of range or sizes outside the limits.
  VegasClimber(const VegasSettings& settings, int initial_size, SizeLimits limits);

  double period_s() const override { return settings_.interval_s; }
  VegasReason reason() const { return reason_; }

 protected:
  int next(const Sample& sample) override;

 private:
  // Samples that make up one window.
  struct Window {
    double requests = 0.0;
    double latency_s = 0.0;  // of all requests together
    double inside = 0.0;     // the most
  };

  double median_of_last(double latency_s);
  VegasReason evaluate_weights(double inside, double recent_s, double baseline_s, int size);

  VegasSettings settings_;
  Window window_;
  Ring<double> latencies_s_;
  MovingAverage recent_s_;
  MovingAverage baseline_s_;
  CorrelationWindow throughput_;
  CorrelationWindow latency_;
  VegasReason reason_ = VegasReason::kTooFewRequests;
};

}  // namespace poolpilot
