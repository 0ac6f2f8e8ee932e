// An exponential moving average that begins as a plain mean.
#pragma once

namespace poolpilot {

class MovingAverage {
 public:
  // Remembers about `window` values; of the first `warm_up` ones it is the mean.
  MovingAverage(int window, int warm_up) : weight_(2.0 / (window + 1)), warm_up_(warm_up) {}

  double add(double value) {
    if (count_ < warm_up_) {
      ++count_;
      sum_ += value;
      value_ = sum_ / count_;
    } else {
      value_ = value_ * (1.0 - weight_) + value * weight_;
    }
    return value_;
  }

  void scale(double factor) { value_ *= factor; }

 private:
  double weight_;
  int warm_up_;
  int count_ = 0;
  double sum_ = 0.0;
  double value_ = 0.0;
};

}  // namespace poolpilot
