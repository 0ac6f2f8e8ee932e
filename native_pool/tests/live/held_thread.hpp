// Holds a thread of this process where it is, as a busy host would, until it is let go.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace poolpilot {

class HeldThread {
 public:
  // Returns once the thread stands still.
  explicit HeldThread(pthread_t thread) {
    held_ = false;
    released_ = false;
    struct sigaction action{};
    action.sa_handler = [](int) { stand_still(); };
    sigaction(SIGUSR1, &action, &before_);
    pthread_kill(thread, SIGUSR1);
    while (!held_) std::this_thread::yield();
  }
  ~HeldThread() {
    released_ = true;
    while (held_) std::this_thread::yield();
    sigaction(SIGUSR1, &before_, nullptr);
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

 private:
  // Only what a signal handler may do.
  static void stand_still() {
    held_ = true;
    while (!released_) {
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
    held_ = false;
  }

  static inline std::atomic<bool> held_{false};
  static inline std::atomic<bool> released_{false};
  struct sigaction before_{};
};

}  // namespace poolpilot
