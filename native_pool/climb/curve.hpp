// What is known of the curve of throughput over size, and whether a new point belongs to it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace poolpilot {

class CurveMemory {
 public:
  explicit CurveMemory(int points) : most_(static_cast<std::size_t>(points)) {
    points_.reserve(most_);
  }

  // Adds the mean throughput of `samples` samples at `size` to what is known of that size. Where
  // the memory is full, the size seen least gives way.
  void add(int size, double throughput, double samples);

  // Throughput expected at `size`: what is known of it, else the straight line between the two
  // known neighbours; nothing when `size` lies outside the known points or the neighbours are more
  // than a factor `interpolation_ratio` apart, where the chord of an arched curve says nothing.
  std::optional<double> predict(int size, double interpolation_ratio) const;

  // Known size of the greatest ln(throughput) - price ln(size) within low..high.
  std::optional<int> best(int low, int high, double price) const;

  // ln(throughput) - price ln(size) at a known size.
  double value(int size, double price) const;

  void clear() { points_.clear(); }

 private:
  struct Point {
    int size = 0;
    double throughput = 0.0;
    double samples = 0.0;
  };

  std::vector<Point>::const_iterator find(int size) const;

  std::size_t most_;
  std::vector<Point> points_;  // in order of size
};

}  // namespace poolpilot
