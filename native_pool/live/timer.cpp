#include "live/timer.hpp"

#include <chrono>

#include "live/thread_registry.hpp"
#include "system/start_thread.hpp"

namespace poolpilot {

void Timer::start(int interval_ms) {
  interval_ms_ = interval_ms;
  thread_ = start_thread("the timer", [this] { run(); });
}

void Timer::set_interval(int interval_ms) {
  {
    const std::lock_guard lock(mutex_);
    if (interval_ms == interval_ms_) return;
    interval_ms_ = interval_ms;
    ++epoch_;
  }
  changed_.notify_one();
}

void Timer::stop() {
  {
    // Under the mutex, or the wait could start between this store and the notification.
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Timer::run() {
  pin_this_thread(cpus_);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto interval = std::chrono::milliseconds(interval_ms_);
    const bool changed = changed_.wait_for(
        lock, interval, [this, epoch = epoch_] { return epoch_ != epoch || stopping_; });
    if (changed) continue;
    lock.unlock();
    tick_();
    lock.lock();
  }
}

}  // namespace poolpilot
