// How two measures of the last windows go together.
#pragma once

#include <cstddef>

#include "queues/ring.hpp"

namespace poolpilot {

struct Correlation {
  double coefficient = 0.0;  // 0 too where there are few pairs, or one measure hardly varies
  double variation_y = 0.0;  // standard deviation over mean
};

class CorrelationWindow {
 public:
  // Of the last `capacity` pairs; nothing is said of fewer than `warm_up`.
  CorrelationWindow(int capacity, int warm_up)
      : capacity_(static_cast<std::size_t>(capacity)),
        warm_up_(static_cast<std::size_t>(warm_up)) {}

  Correlation add(double x, double y);

 private:
  struct Pair {
    double x;
    double y;
  };

  std::size_t capacity_;
  std::size_t warm_up_;
  Ring<Pair> pairs_;
};

}  // namespace poolpilot
