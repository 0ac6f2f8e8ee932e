// The sizes among which the optimum of a curve with one summit can still be.
#pragma once

#include <algorithm>

namespace poolpilot {

class Bracket {
 public:
  Bracket(int low, int high) : low_(low), high_(high) {}

  int low() const { return low_; }
  int high() const { return high_; }
  int width() const { return high_ - low_; }

  // Closed: both ends were found by a wave or are limits that a wave has touched.
  bool closed() const { return low_closed_ && high_closed_; }

  // Weight of the waves that have spoken for either end, 1 for each that was beyond doubt.
  double low_weight() const { return low_weight_; }
  double high_weight() const { return high_weight_; }

  // The optimum is not below `low`.
  void raise(int low, double weight) {
    low_ = std::min(std::max(low_, low), high_);
    low_closed_ = true;
    low_weight_ += weight;
  }

  // The optimum is not above `high`.
  void lower(int high, double weight) {
    high_ = std::max(std::min(high_, high), low_);
    high_closed_ = true;
    high_weight_ += weight;
  }

  // A wave has touched the limit on that side: nothing lies beyond.
  void touch_low() { low_closed_ = true; }
  void touch_high() { high_closed_ = true; }

  // Takes an end back to `limit`: one wave alone may have been misread in the noise.
  void reopen_low(int limit) {
    low_ = limit;
    low_closed_ = false;
  }
  void reopen_high(int limit) {
    high_ = limit;
    high_closed_ = false;
  }

 private:
  int low_;
  int high_;
  double low_weight_ = 0.0;
  double high_weight_ = 0.0;
  bool low_closed_ = false;
  bool high_closed_ = false;
};

}  // namespace poolpilot
