// A number that changes, and its integral over time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace poolpilot {

class CountOverTime {
 public:
  void add(int change, std::int64_t now_us) {
    integral_us_ = integral_us(now_us);
    until_us_ = std::max(until_us_, now_us);
    count_ += change;
  }

  int count() const { return count_; }

  // Threads take the time before they get a mutex, so `now_us` may lie a little in the past.
  std::int64_t integral_us(std::int64_t now_us) const {
    return integral_us_ + count_ * std::max<std::int64_t>(now_us - until_us_, 0);
  }

 private:
  int count_ = 0;
  std::int64_t integral_us_ = 0;
  std::int64_t until_us_ = 0;
};

}  // namespace poolpilot
