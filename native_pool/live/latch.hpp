// A contended latch: spins, then sleeps in FIFO order, and a holder pays for those who wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

namespace poolpilot {

// Owned by a connection, not by a thread: a transaction holds latches from one request to the next.
using LatchOwner = const void*;

class Latch {
 public:
  static constexpr std::chrono::milliseconds kNap{50};  // a sleeper looks for itself so often

  // Takes the latch if it is free. Does nothing for its own owner.
  bool try_acquire(LatchOwner owner);

  // Sleeps until the latch is free and takes it. False once `deadline_ns` has passed or `stopping`
  // is set.
  bool acquire_sleeping(LatchOwner owner, std::int64_t deadline_ns,
                        const std::atomic<bool>& stopping);

  void release(LatchOwner owner);

  // Threads that spin or sleep for the latch now.
  int waiters() const { return waiters_.load(std::memory_order_relaxed); }

  // Counts the caller among the waiters while it lives.
  class Waiting {
   public:
    explicit Waiting(Latch& latch) : latch_(latch) {
      latch_.waiters_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Waiting() { latch_.waiters_.fetch_sub(1, std::memory_order_relaxed); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Latch& latch_;
  };

 private:
  struct Sleeper {
    std::condition_variable awake;
    bool woken = false;
  };

  // Acquire on success and release on release() order what the holders did; the compare is the
  // lock.
  std::atomic<LatchOwner> owner_{nullptr};
  // A hint for the price of degradation; it guards nothing, so relaxed.
  std::atomic<int> waiters_{0};
  std::mutex mutex_;
  std::deque<Sleeper*> sleepers_;
};

}  // namespace poolpilot
