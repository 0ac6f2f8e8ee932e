// What the sizes measured say: which is best, which are worse, and whether more threads pay.
#include <algorithm>
#include <cmath>
#include <limits>

#include "climb/scan.hpp"

namespace poolpilot {
namespace {

constexpr double kAll = std::numeric_limits<double>::infinity();  // of what is known of the noise

// Factor below the best of the first round at which a size is left out: of a single sample each,
// the noise is not known.
constexpr double kScanMargin = 2.0;

// Share of throughput that the rounds must be able to tell apart, or a dip passes for a slope.
constexpr double kCoarse = 0.1;

}  // namespace

double Scan::log_size(const Point& point) { return std::log(static_cast<double>(point.size)); }

double Scan::value(const Point& point) const {
  return std::log(point.mean) - price_ * log_size(point);
}

double Scan::error(const Point& one, const Point& other) const {
  return noise(kAll).cautious() * std::sqrt(1.0 / one.samples + 1.0 / other.samples);
}

std::size_t Scan::best_at() const {
  std::size_t best = at_;
  for (std::size_t i = 0; i < count_; ++i) {
    const Point& point = points_[i];
    if (point.open && point.samples > 0 && value(point) > value(points_[best])) best = i;
  }
  return best;
}

std::size_t Scan::found_at() const {
  const std::size_t best = best_at();
  if (pays_) return best;
  for (std::size_t i = 0; i < best; ++i) {
    if (points_[i].open && points_[i].samples > 0) return i;
  }
  return best;
}

int Scan::worse_below(double errors) const {
  const std::size_t found = found_at();
  for (std::size_t i = found; i-- > 0;) {
    const Point& point = points_[i];
    if (point.samples == 0) continue;
    const double gap = value(points_[found]) - value(point);
    if (pays_ || gap > errors * error(point, points_[found])) return point.size;
  }
  return 0;
}

// The least squares line through the sizes left.
Scan::Slope Scan::slope() const {
  double weight = 0.0;
  double mean_x = 0.0;
  double mean_y = 0.0;
  const auto each = [&](const auto& take) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (points_[i].open && points_[i].samples > 0) take(points_[i]);
    }
  };
  each([&](const Point& point) {
    weight += point.samples;
    mean_x += point.samples * (log_size(point) - mean_x) / weight;
    mean_y += point.samples * (value(point) - mean_y) / weight;
  });
  double spread = 0.0;
  double product = 0.0;
  Slope slope;
  each([&](const Point& point) {
    const double away = log_size(point) - mean_x;
    spread += point.samples * away * away;
    product += point.samples * away * (value(point) - mean_y);
    slope.width = std::max(slope.width, 2.0 * std::abs(away));
  });
  slope.gain = product / spread;
  slope.error = noise(kAll).cautious() / std::sqrt(spread);
  return slope;
}

// Whether more threads pay among the sizes left, or next to nothing can be gained by them.
bool Scan::decided(const SpectralSettings& settings) {
  if (!noise(kAll).known()) return false;
  const Slope all = slope();
  pays_ = all.gain > 2.0 * settings.confidence * all.error;
  const double most = (all.gain + settings.confidence * all.error) * all.width;
  const double coarse = kScanConfidence * error(points_[best_at()], points_[found_at()]);
  const bool open = coarse > kCoarse || most >= settings.scan_worth;
  return pays_ || !open || round_ >= settings.scan_rounds;
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
// On the way down what is left out first leaves out all below it, so that more is asked.
bool Scan::worse(const SpectralSettings& settings, const Point& point) const {
  if (!point.open || point.samples == 0) return false;
  const Point& best = points_[best_at()];
  const double errors = descends_ ? 2.0 * settings.confidence : kScanConfidence;
  const double margin = noise(kAll).known() ? errors * error(point, best) : std::log(kScanMargin);
  return value(best) - value(point) > margin;
}

}  // namespace poolpilot
