// The look at sizes a factor apart before the first wave: which of the hills is worth climbing?
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "climb/climber.hpp"
#include "climb/noise.hpp"
#include "climb/settings.hpp"

namespace poolpilot {

// A wave sees the slope where it stands, and so never the optimum beyond a dip. The scan measures
// sizes a factor `scan_ratio` apart, upwards from the first one and then downwards, one sample
// each. What is clearly worse than the best is not looked at again (successive elimination:
// E. Even-Dar, S. Mannor, Y. Mansour, "Action elimination and stopping conditions", JMLR 7, 2006);
// the others are measured again until one is left, or for `scan_rounds` rounds.
class Scan {
 public:
  // From the size of the grid nearest to `start`. Where the settings want no scan, or the limits
  // leave nothing to tell apart, it is over at once.
  void begin(const SpectralSettings& settings, int start, SizeLimits limits);
  void cancel() { over_ = true; }
  bool over() const { return over_; }

  // Size that the next sample is wanted of.
  int size() const { return points_[at_].size; }

  // One sample of size(); sizes above `most_useful` are left out from now on.
  void add(const SpectralSettings& settings, double throughput, double most_useful);

  // What has been found once it is over: the best size, and the noise of one sample.
  int best() const { return points_[best_at()].size; }
  Noise noise(double memory) const { return Noise().with(variance(), freedom(), memory); }

 private:
  struct Point {
    int size = 0;
    int samples = 0;
    double mean = 0.0;     // of the throughputs
    double squares = 0.0;  // of their deviations, relative to the mean
    bool open = true;
  };
  static constexpr std::size_t kMostPoints = 64;

  double value(const Point& point) const;
  std::size_t best_at() const;
  double freedom() const;
  double variance() const;
  void close(const SpectralSettings& settings);
  bool alone() const;
  std::optional<std::size_t> wanted() const;

  std::array<Point, kMostPoints> points_{};
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  int round_ = 1;
  bool over_ = true;
  double price_ = 0.0;
};

}  // namespace poolpilot
