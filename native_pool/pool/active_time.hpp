// How long a thread has been at work, for others to read while it goes on.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "system/clock.hpp"

namespace poolpilot {

// Written by its own thread alone. One word says all, so nobody sees half of a change: an even one
// is twice the time at work so far of a thread that rests, an odd one twice the moment at which a
// thread that works would have begun if it had never rested.
class ActiveTime {
 public:
  void begin(std::int64_t now_ns) {
    const std::int64_t word = word_.load(std::memory_order_relaxed);
    assert(!is_odd(word));
    word_.store(2 * (now_ns - word / 2) + 1, std::memory_order_release);
  }

  void end(std::int64_t now_ns) {
    const std::int64_t word = word_.load(std::memory_order_relaxed);
    assert(is_odd(word));
    word_.store(2 * (now_ns - word / 2), std::memory_order_release);
  }

  bool is_active() const { return is_odd(word_.load(std::memory_order_relaxed)); }

  // Up to now. Acquire and release: a clock that is read after the word is not behind the one by
  // which the word was made, so no sum is negative. It may fall: the thread reads the clock for
  // end() before it stores the word, and who looks in between counts on beyond that end. Whoever
  // tells sums that must not fall keeps the greatest.
  std::int64_t sum_ns() const {
    const std::int64_t word = word_.load(std::memory_order_acquire);
    return is_odd(word) ? now_ns() - word / 2 : word / 2;
  }

 private:
  static bool is_odd(std::int64_t word) { return (word & 1) != 0; }

  std::atomic<std::int64_t> word_{0};
};

}  // namespace poolpilot
