// Calls a function once an interval, on a thread of its own, as the timer thread of MariaDB's pool.
//
// It runs free: only a new interval arms it anew, so that whatever else changes, ticks keep coming.
// The mutex is not held during a tick.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace poolpilot {

class Timer {
 public:
  // `cpus` are the processors its thread is pinned to; empty leaves it free.
  Timer(const std::vector<int>& cpus, std::function<void()> tick)
      : cpus_(cpus), tick_(std::move(tick)) {}

  // Throws std::system_error when the system refuses the thread.
  void start(int interval_ms);
  // Does nothing when the interval is the same.
  void set_interval(int interval_ms);
  // Returns once the last tick is over. Safe to call twice, and before a start.
  void stop();

 private:
  void run();

  const std::vector<int> cpus_;
  const std::function<void()> tick_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int interval_ms_ = 0;
  std::int64_t epoch_ = 0;  // changes of the interval
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace poolpilot
