#include "climb/curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace poolpilot {
namespace {

double objective(double throughput, int size, double price) {
  return std::log(throughput) - price * std::log(static_cast<double>(size));
}

}  // namespace

std::vector<CurveMemory::Point>::const_iterator CurveMemory::find(int size) const {
  return std::lower_bound(points_.begin(), points_.end(), size,
                          [](const Point& point, int wanted) { return point.size < wanted; });
}

void CurveMemory::add(int size, double throughput, double samples) {
  auto at = find(size);
  if (at == points_.end() || at->size != size) {
    if (points_.size() == most_) {
      const auto fewer = [](const Point& a, const Point& b) { return a.samples < b.samples; };
      points_.erase(std::min_element(points_.begin(), points_.end(), fewer));
      at = find(size);
    }
    points_.insert(at, {.size = size, .throughput = throughput, .samples = samples});
    return;
  }
  Point& point = points_[static_cast<std::size_t>(at - points_.begin())];
  point.samples += samples;
  point.throughput += (throughput - point.throughput) * samples / point.samples;
}

std::optional<double> CurveMemory::predict(int size, double interpolation_ratio) const {
  const auto right = find(size);
  if (right == points_.end()) return std::nullopt;
  if (right->size == size) return right->throughput;
  if (right == points_.begin()) return std::nullopt;
  const auto left = std::prev(right);
  if (right->size > interpolation_ratio * left->size) return std::nullopt;
  const double share = static_cast<double>(size - left->size) / (right->size - left->size);
  return std::lerp(left->throughput, right->throughput, share);
}

std::optional<int> CurveMemory::best(int low, int high, double price) const {
  std::optional<int> best_size;
  double best_value = 0.0;
  for (auto at = find(low); at != points_.end() && at->size <= high; ++at) {
    const double value = objective(at->throughput, at->size, price);
    if (best_size && value <= best_value) continue;
    best_size = at->size;
    best_value = value;
  }
  return best_size;
}

double CurveMemory::value(int size, double price) const {
  return objective(find(size)->throughput, size, price);
}

}  // namespace poolpilot
