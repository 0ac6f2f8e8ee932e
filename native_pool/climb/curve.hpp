// What is known of the curve of throughput over size, and whether a new point belongs to it.
#pragma once

#include <map>
#include <optional>

namespace poolpilot {

class CurveMemory {
 public:
  // Adds the mean throughput of `samples` samples at `size` to what is known of that size.
  void add(int size, double throughput, double samples);

  // Throughput expected at `size`: what is known of it, else the straight line between the two
  // known neighbours; nothing when `size` lies outside the known points or the neighbours are more
  // than a factor of two apart, where the chord of an arched curve says nothing.
  std::optional<double> predict(int size) const;

  // Known size of the greatest ln(throughput) - price ln(size) within low..high.
  std::optional<int> best(int low, int high, double price) const;

  // ln(throughput) - price ln(size) at a known size.
  double value(int size, double price) const;

  void clear() { points_.clear(); }
  bool empty() const { return points_.empty(); }

 private:
  struct Point {
    double throughput = 0.0;
    double samples = 0.0;
  };

  std::map<int, Point> points_;
};

}  // namespace poolpilot
