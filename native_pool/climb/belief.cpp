#include "climb/belief.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {

Belief::Belief(SizeLimits limits, int points) {
  const auto most = static_cast<std::size_t>(points);
  int size = limits.min;
  sizes_.push_back(size);
  while (size < limits.max) {
    const auto left = static_cast<double>(most - std::min(most, sizes_.size()));
    const double rest = static_cast<double>(limits.max) / size;
    const double next = left > 1.0 ? size * std::pow(rest, 1.0 / left) : limits.max;
    size = std::clamp(static_cast<int>(next), size + 1, limits.max);
    sizes_.push_back(size);
  }
  points_ = sizes_.size();
  for (const int one : sizes_) logs_.push_back(std::log(static_cast<double>(one)));
  weights_.resize(points_);
  forget();
}

// The share of the logarithmic scale that a point stands for.
double Belief::prior(std::size_t point) const {
  if (points_ == 1) return 1.0;
  const double left = logs_[point > 0 ? point - 1 : point];
  const double right = logs_[std::min(point + 1, points_ - 1)];
  return right - left;
}

void Belief::forget() {
  possible_ = points_;
  for (std::size_t point = 0; point < points_; ++point) weights_[point] = prior(point);
  normalise();
}

void Belief::expect(int size, double ratio) {
  const double centre = std::log(static_cast<double>(size));
  const double width = std::log(ratio);
  forget();
  for (std::size_t point = 0; point < points_; ++point) {
    const double away = (logs_[point] - centre) / width;
    weights_[point] *= 1.0 / (1.0 + away * away * away * away);
  }
  normalise();
}

void Belief::tell(int low, int high, double rising) {
  const double from = std::log(static_cast<double>(low));
  const double width = std::log(static_cast<double>(high)) - from;
  for (std::size_t point = 0; point < possible_; ++point) {
    const double share = width > 0.0 ? std::clamp((logs_[point] - from) / width, 0.0, 1.0) : 0.5;
    weights_[point] *= std::lerp(1.0 - rising, rising, share);
  }
  normalise();
}

void Belief::fade(double distance) {
  const double kept = std::exp(-distance);
  if (kept == 1.0) return;
  for (std::size_t point = 0; point < possible_; ++point) {
    weights_[point] = std::pow(weights_[point], kept) * std::pow(prior(point), 1.0 - kept);
  }
  normalise();
}

void Belief::exclude_above(int size) {
  while (possible_ > 1 && sizes_[possible_ - 1] > size) weights_[--possible_] = 0.0;
  normalise();
}

int Belief::quantile(double share) const {
  double sum = 0.0;
  for (std::size_t point = 0; point < possible_; ++point) {
    sum += weights_[point];
    if (sum >= share) return sizes_[point];
  }
  return sizes_[possible_ - 1];
}

void Belief::normalise() {
  // Weights may not underflow to nothing where later waves contradict earlier ones.
  constexpr double kLeast = 1e-9;
  double sum = 0.0;
  for (std::size_t point = 0; point < possible_; ++point) sum += weights_[point];
  double floored = 0.0;
  for (std::size_t point = 0; point < possible_; ++point) {
    double& weight = weights_[point];
    weight = std::max(weight / sum, kLeast);
    floored += weight;
  }
  for (std::size_t point = 0; point < possible_; ++point) weights_[point] /= floored;
}

}  // namespace poolpilot
