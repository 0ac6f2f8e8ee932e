// The look at sizes a factor apart: which hill is worth climbing, and do fewer threads do as well?
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "climb/climber.hpp"
#include "climb/noise.hpp"
#include "climb/settings.hpp"

namespace poolpilot {

// A wave sees the slope where it stands, and so never the optimum beyond a dip. The scan measures
// sizes a factor `kScanRatio` apart, upwards from the first one and then downwards, one sample
// each. What is clearly worse than the best is not looked at again (successive elimination:
// E. Even-Dar, S. Mannor, Y. Mansour, "Action elimination and stopping conditions", JMLR 7, 2006);
// the others are measured again until one is left, or it is known whether more threads pay.
class Scan {
 public:
  // From the size of the grid nearest to `start`. Where the settings want no scan, or the limits
  // leave nothing to tell apart, it is over at once.
  void begin(const SpectralSettings& settings, int start, SizeLimits limits);

  // Downwards from `size` alone, as far as smaller ones are not shown to be worse; `noise` is what
  // the waves have measured of it.
  void begin_down(const SpectralSettings& settings, int size, SizeLimits limits,
                  const Noise& noise);
  bool descends() const { return descends_; }

  void cancel() { over_ = true; }
  bool over() const { return over_; }

  // Size that the next sample is wanted of.
  int size() const { return points_[at_].size; }

  // One sample of size(); sizes above `most_useful` are left out from now on.
  void add(const SpectralSettings& settings, double throughput, double most_useful);

  // What has been found once it is over: the best size where more threads are shown to pay, else
  // the smallest of those not shown to be worse; and the noise of one sample.
  int found() const { return points_[found_at()].size; }
  Noise noise(double memory) const { return before_.with(variance(), freedom(), memory); }

  // Largest size below the one found that is worse by so many standard errors; 0 if none is.
  int worse_below(double errors) const;

 private:
  struct Point {
    int size = 0;
    int samples = 0;
    double mean = 0.0;     // of the throughputs
    double squares = 0.0;  // of their deviations, relative to the mean
    bool open = true;
  };
  static constexpr std::size_t kMostPoints = 64;

  // Gain per unit of ln(size) over the sizes left, and what lies between their ends.
  struct Slope {
    double gain = 0.0;
    double error = 0.0;
    double width = 0.0;
  };

  void reset(const SpectralSettings& settings, const Noise& noise);
  static double log_size(const Point& point);
  double value(const Point& point) const;
  double error(const Point& one, const Point& other) const;
  std::size_t best_at() const;
  std::size_t found_at() const;
  Slope slope() const;
  double freedom() const;
  double variance() const;
  void close(const SpectralSettings& settings);
  void leave_out_smaller(const SpectralSettings& settings);
  bool worse(const SpectralSettings& settings, const Point& point) const;
  bool decided(const SpectralSettings& settings);
  bool alone() const;
  std::optional<std::size_t> wanted() const;

  std::array<Point, kMostPoints> points_{};
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  int round_ = 1;
  bool over_ = true;
  bool descends_ = false;
  bool pays_ = false;  // more threads are shown to
  double price_ = 0.0;
  Noise before_;
};

}  // namespace poolpilot
