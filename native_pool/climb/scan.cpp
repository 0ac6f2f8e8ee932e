#include "climb/scan.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {

void Scan::begin(const SpectralSettings& settings, int start, SizeLimits limits) {
  count_ = at_ = 0;
  round_ = 1;
  price_ = settings.price_of_thread;
  double size = limits.min;
  while (size < limits.max + 1.0 && count_ < kMostPoints) {
    points_[count_++] = {.size = static_cast<int>(std::lround(std::min<double>(size, limits.max)))};
    size = std::max(size * settings.scan_ratio, size + 1.0);
  }
  const auto away = [&](std::size_t point) {
    return std::abs(std::log(static_cast<double>(points_[point].size) / start));
  };
  for (std::size_t point = 1; point < count_; ++point) {
    if (away(point) < away(at_)) at_ = point;
  }
  over_ = settings.scan_rounds == 0 || count_ < 3;
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
  auto next = wanted();
  while (!next) {
    close(settings);
    if (round_ >= settings.scan_rounds || alone()) {
      over_ = true;
      return;
    }
    ++round_;
    next = wanted();
  }
  at_ = *next;
}

double Scan::value(const Point& point) const {
  return std::log(point.mean) - price_ * std::log(static_cast<double>(point.size));
}

std::size_t Scan::best_at() const {
  std::size_t best = at_;
  for (std::size_t i = 0; i < count_; ++i) {
    const Point& point = points_[i];
    if (point.open && point.samples > 0 && value(point) > value(points_[best])) best = i;
  }
  return best;
}

double Scan::freedom() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < count_; ++i) sum += std::max(points_[i].samples - 1, 0);
  return sum;
}

double Scan::variance() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < count_; ++i) sum += points_[i].squares;
  return freedom() > 0.0 ? sum / freedom() : 0.0;
}

// A single sample of each says nothing of the noise: then only what is worse by far is left out.
void Scan::close(const SpectralSettings& settings) {
  const std::size_t best = best_at();
  const double noise = std::sqrt(variance() * (1.0 + 4.0 / std::max(freedom(), 1.0)));
  for (std::size_t i = 0; i < count_; ++i) {
    Point& point = points_[i];
    if (!point.open || point.samples == 0) continue;
    double margin = std::log(settings.scan_margin);
    if (round_ > 1) {
      margin = settings.scan_confidence * noise *
               std::sqrt(1.0 / point.samples + 1.0 / points_[best].samples);
    }
    if (value(points_[best]) - value(point) > margin) point.open = false;
  }
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
