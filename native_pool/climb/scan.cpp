#include "climb/scan.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {

void Scan::reset(const SpectralSettings& settings, const Noise& noise) {
  count_ = at_ = 0;
  round_ = 1;
  descends_ = pays_ = false;
  price_ = settings.price_of_thread;
  before_ = noise;
}

void Scan::begin(const SpectralSettings& settings, int start, SizeLimits limits) {
  reset(settings, Noise());
  double size = limits.min;
  while (size < limits.max + 1.0 && count_ < kMostPoints) {
    points_[count_++] = {.size = static_cast<int>(std::lround(std::min<double>(size, limits.max)))};
    size = std::max(size * kScanRatio, size + 1.0);
  }
  const auto away = [&](std::size_t point) {
    return std::abs(std::log(static_cast<double>(points_[point].size) / start));
  };
  for (std::size_t point = 1; point < count_; ++point) {
    if (away(point) < away(at_)) at_ = point;
  }
  over_ = settings.scan_rounds == 0 || count_ < 3;
}

void Scan::begin_down(const SpectralSettings& settings, int size, SizeLimits limits,
                      const Noise& noise) {
  reset(settings, noise);
  descends_ = true;
  points_[count_++] = {.size = size};
  while (size > limits.min && count_ < kMostPoints) {
    size = std::max(limits.min, static_cast<int>(size / kScanRatio));
    points_[count_++] = {.size = size};
  }
  std::reverse(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(count_));
  at_ = count_ - 1;
  over_ = count_ < 2;
}

void Scan::add(const SpectralSettings& settings, double throughput, double most_useful) {
  Point& point = points_[at_];
  ++point.samples;
  const double before = throughput / std::max(point.mean, 1e-300) - 1.0;
  point.mean += (throughput - point.mean) / point.samples;
  if (point.samples > 1) point.squares += before * (throughput / point.mean - 1.0);
  for (std::size_t i = 0; i < count_; ++i) {
    if (points_[i].samples == 0 && points_[i].size > most_useful) points_[i].open = false;
  }
  if (descends_ && round_ == 1) leave_out_smaller(settings);
  auto next = wanted();
  while (!next) {
    close(settings);
    if (alone() || decided(settings)) {
      over_ = true;
      return;
    }
    ++round_;
    next = wanted();
  }
  at_ = *next;
}

void Scan::close(const SpectralSettings& settings) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (worse(settings, points_[i])) points_[i].open = false;
  }
}

// On the first way down nothing below a size that is worse is tried.
void Scan::leave_out_smaller(const SpectralSettings& settings) {
  if (!worse(settings, points_[at_])) return;
  for (std::size_t i = 0; i <= at_; ++i) points_[i].open = false;
}

bool Scan::alone() const {
  const auto open = [](const Point& point) { return point.open; };
  return std::count_if(points_.begin(), points_.begin() + count_, open) <= 1;
}

// The next open size without a sample of this round: on the way, else the nearest the other way.
std::optional<std::size_t> Scan::wanted() const {
  const auto lacks = [&](std::size_t i) { return points_[i].open && points_[i].samples < round_; };
  for (std::size_t i = at_ + 1; i < count_; ++i) {
    if (lacks(i)) return i;
  }
  for (std::size_t i = at_; i-- > 0;) {
    if (lacks(i)) return i;
  }
  return std::nullopt;
}

}  // namespace poolpilot
