// A contended latch: spins, then sleeps in FIFO order, and a holder pays for those who wait.
//
// A sleeper stands in the queue from the moment it falls asleep until release() wakes it, its
// deadline passes or the latch stops. release() frees the latch before it wakes the head, so a
// spinner or a newcomer may be quicker; the one that was woken then goes back to the head.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace poolpilot {

// Owned by a connection, not by a thread: a transaction holds latches from one request to the next.
using LatchOwner = const void*;

class Latch {
 public:
  // Takes the latch if it is free. Does nothing for its own owner.
  bool try_acquire(LatchOwner owner);

  // Sleeps until the latch is free and takes it. False if it is not free once `deadline_ns` has
  // passed or the latch has stopped.
  bool acquire_sleeping(LatchOwner owner, std::int64_t deadline_ns);

  void release(LatchOwner owner);

  // Sends every sleeper away, for good: from now on nobody sleeps.
  void stop();

  // Threads that spin or sleep for the latch now.
  int waiters() const { return waiters_.load(std::memory_order_relaxed); }

  // Threads that sleep for it now.
  std::size_t sleepers() const;

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
    bool woken = false;  // and no longer in the queue
  };

  bool sleep(Sleeper& self, std::unique_lock<std::mutex>& lock, std::int64_t deadline_ns);

  // Acquire on success and release on release() order what the holders did; the compare is the
  // lock.
  std::atomic<LatchOwner> owner_{nullptr};
  // A hint for the price of degradation; it guards nothing, so relaxed.
  std::atomic<int> waiters_{0};
  mutable std::mutex mutex_;
  std::deque<Sleeper*> sleepers_;
  bool stopped_ = false;
};

}  // namespace poolpilot
