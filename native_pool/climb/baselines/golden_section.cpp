#include "climb/baselines/golden_section.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace poolpilot {
namespace {

constexpr double kLowerShare = 2.0 - std::numbers::phi;  // 0.382 of the bracket
constexpr double kUpperShare = std::numbers::phi - 1.0;  // 0.618

}  // namespace

GoldenSectionClimber::GoldenSectionClimber(const GoldenSectionSettings& settings, int initial_size,
                                           SizeLimits limits)
    : Climber(initial_size, limits), settings_(settings) {}

int GoldenSectionClimber::next(const Sample& sample) {
  if (phase_ == Phase::kSetOut || sample.size != size()) return search();
  const bool settling = holding() && reference_.count() < settings_.reference_samples;
  Average& average = settling ? reference_ : average_;
  average.add(sample.throughput);
  if (settling || average.count() < settings_.samples_per_point) return sample.size;
  return holding() ? watch(sample.size) : take_point(average_.mean());
}

int GoldenSectionClimber::search() {
  low_ = limits().min - 0.5;
  high_ = limits().max + 0.5;
  average_ = Average();
  best_ = Point();
  points_ = 0;
  lower_ = {.size = between(kLowerShare, limits().min, limits().max)};
  phase_ = Phase::kFirst;
  return lower_.size;
}

int GoldenSectionClimber::take_point(double throughput) {
  Point& point = phase_ == Phase::kUpper ? upper_ : lower_;
  point.throughput = throughput;
  const bool ties_below = throughput == best_.throughput && point.size < best_.size;
  if (points_ == 0 || throughput > best_.throughput || ties_below) best_ = point;
  ++points_;
  average_ = Average();
  return phase_ == Phase::kFirst ? split_beside(lower_) : narrow();
}

int GoldenSectionClimber::narrow() {
  if (lower_.throughput >= upper_.throughput) {
    high_ = upper_.size;
    return split_beside(lower_);
  }
  low_ = lower_.size;
  return split_beside(upper_);
}

int GoldenSectionClimber::split_beside(Point inner) {
  const bool room_below = inner.size - 1 > low_;
  const bool room_above = inner.size + 1.0 < high_;
  if (done() || (!room_below && !room_above)) return hold();
  const bool longer_below = inner.size / low_ > high_ / inner.size;
  if (room_below && (longer_below || !room_above)) {
    upper_ = inner;
    lower_ = {.size = between(kLowerShare, limits().min, inner.size - 1)};
    phase_ = Phase::kLower;
    return lower_.size;
  }
  lower_ = inner;
  upper_ = {.size = between(kUpperShare, inner.size + 1, limits().max)};
  phase_ = Phase::kUpper;
  return upper_.size;
}

int GoldenSectionClimber::hold() {
  phase_ = Phase::kHold;
  reference_ = Average();
  return best_.size;
}

int GoldenSectionClimber::watch(int size) {
  const double change = std::abs(average_.mean() - reference_.mean());
  average_ = Average();
  return change > settings_.departure_threshold * reference_.mean() ? search() : size;
}

bool GoldenSectionClimber::done() const {
  return high_ - low_ <= std::max(1.0, settings_.tolerance * low_);
}

// The size at a share of the bracket in ln(size), strictly inside it and in least..most.
int GoldenSectionClimber::between(double share, int least, int most) const {
  const double wish = std::round(low_ * std::pow(high_ / low_, share));
  const double first = std::max<double>(least, std::floor(low_) + 1.0);
  const double last = std::min<double>(most, std::ceil(high_) - 1.0);
  return static_cast<int>(std::clamp(wish, first, last));
}

}  // namespace poolpilot
