// Mean and standard error of the samples taken at one size (Welford 1962).
#pragma once

#include <cmath>

namespace poolpilot {

class Average {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / count_;
    squares_ += before * (value - mean_);
  }

  int count() const { return count_; }
  double mean() const { return mean_; }

  // Standard deviation of the mean; 0 until there are two samples.
  double standard_error() const {
    return count_ < 2 ? 0.0 : std::sqrt(squares_ / (count_ - 1) / count_);
  }

 private:
  int count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace poolpilot
