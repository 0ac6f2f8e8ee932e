#include "climb/baselines/correlation_window.hpp"

#include <cmath>

namespace poolpilot {
namespace {

constexpr double kLeastVariation = 0.01;

}  // namespace

Correlation CorrelationWindow::add(double x, double y) {
  if (pairs_.size() == capacity_) pairs_.pop_front();
  pairs_.push_back({x, y});
  if (pairs_.size() < warm_up_) return {};
  const auto count = static_cast<double>(pairs_.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    mean_x += pairs_[i].x / count;
    mean_y += pairs_[i].y / count;
  }
  double squares_x = 0.0;
  double squares_y = 0.0;
  double products = 0.0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double off_x = pairs_[i].x - mean_x;
    const double off_y = pairs_[i].y - mean_y;
    squares_x += off_x * off_x;
    squares_y += off_y * off_y;
    products += off_x * off_y;
  }
  if (mean_x <= 0.0 || mean_y <= 0.0) return {};
  const double variation_x = std::sqrt(squares_x / count) / mean_x;
  const double variation_y = std::sqrt(squares_y / count) / mean_y;
  if (variation_x < kLeastVariation || variation_y < kLeastVariation) return {0.0, variation_y};
  return {products / std::sqrt(squares_x * squares_y), variation_y};
}

}  // namespace poolpilot
