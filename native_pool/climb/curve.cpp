#include "climb/curve.hpp"

#include <cmath>
#include <iterator>

namespace poolpilot {
namespace {

double objective(double throughput, int size, double price) {
  return std::log(throughput) - price * std::log(static_cast<double>(size));
}

}  // namespace

void CurveMemory::add(int size, double throughput, double samples) {
  Point& point = points_[size];
  point.samples += samples;
  point.throughput += (throughput - point.throughput) * samples / point.samples;
}

std::optional<double> CurveMemory::predict(int size) const {
  const auto right = points_.lower_bound(size);
  if (right == points_.end()) return std::nullopt;
  if (right->first == size) return right->second.throughput;
  if (right == points_.begin()) return std::nullopt;
  const auto left = std::prev(right);
  if (right->first > 2 * left->first) return std::nullopt;
  const double share = static_cast<double>(size - left->first) / (right->first - left->first);
  return std::lerp(left->second.throughput, right->second.throughput, share);
}

std::optional<int> CurveMemory::best(int low, int high, double price) const {
  std::optional<int> best_size;
  double best_value = 0.0;
  for (auto it = points_.lower_bound(low); it != points_.end() && it->first <= high; ++it) {
    const double value = objective(it->second.throughput, it->first, price);
    if (best_size && value <= best_value) continue;
    best_size = it->first;
    best_value = value;
  }
  return best_size;
}

double CurveMemory::value(int size, double price) const {
  return objective(points_.at(size).throughput, size, price);
}

}  // namespace poolpilot
