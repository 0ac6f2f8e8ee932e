// The textbook baseline: golden-section search for the best size.
#pragma once

#include "climb/baselines/average.hpp"
#include "climb/climber.hpp"

namespace poolpilot {

struct GoldenSectionSettings {
  int samples_per_point = 4;         // averaged at a size, and at the held size before a judgement
  double tolerance = 0.02;           // width of the bracket over its low end at which it ends
  int reference_samples = 16;        // averaged at the held size before it is watched
  double departure_threshold = 0.2;  // change of the held throughput that starts it again
};

// Golden-section search (Kiefer 1953) for the largest throughput on a scale of ln(size): each size
// is measured by the mean of some samples, the bracket keeps the better of two inner sizes and
// shrinks by 0.618 with each new one. It starts half a thread outside the limits, so that the
// limits themselves can win; of two equal sizes the smaller one wins. It ends when the bracket is
// no wider than the tolerance or one thread, or holds no size untried, and then holds the best size
// measured. The search starts again when the held throughput leaves its averaged reference, or
// somebody else has set the size. The initial size is only where it sets out from: it costs one
// sample and is not a point.
class GoldenSectionClimber final : public Climber {
 public:
  // Throws std::invalid_argument on sizes outside the limits.
  GoldenSectionClimber(const GoldenSectionSettings& settings, int initial_size, SizeLimits limits);

  bool holding() const { return phase_ == Phase::kHold; }

  // Sizes measured by the search that is under way or ended last.
  int points() const { return points_; }

 protected:
  int next(const Sample& sample) override;

 private:
  enum class Phase { kSetOut, kFirst, kLower, kUpper, kHold };
  struct Point {
    int size = 0;
    double throughput = 0.0;
  };

  int search();
  int take_point(double throughput);
  int narrow();
  int split_beside(Point inner);
  int hold();
  int watch(int size);
  bool done() const;
  int between(double share, int least, int most) const;

  GoldenSectionSettings settings_;
  Phase phase_ = Phase::kSetOut;
  double low_ = 0.0;  // the bracket's ends
  double high_ = 0.0;
  Point lower_;  // the inner points
  Point upper_;
  Point best_;
  int points_ = 0;
  Average average_;
  Average reference_;  // of the held size
};

}  // namespace poolpilot
