#include "live/latch.hpp"

#include <algorithm>
#include <chrono>

#include "live/clock.hpp"

namespace poolpilot {

bool Latch::try_acquire(LatchOwner owner) {
  LatchOwner expected = nullptr;
  if (owner_.load(std::memory_order_relaxed) == owner) return true;
  return owner_.load(std::memory_order_relaxed) == nullptr &&
         owner_.compare_exchange_strong(expected, owner, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

bool Latch::acquire_sleeping(LatchOwner owner, std::int64_t deadline_ns,
                             const std::atomic<bool>& stopping) {
  std::unique_lock lock(mutex_);
  Sleeper self;
  bool first_try = true;
  // Checked under the mutex: release() frees the latch before it takes the mutex to wake a sleeper,
  // so a sleeper either sees it free here or is in the queue by then.
  while (!try_acquire(owner)) {
    if (now_ns() >= deadline_ns || stopping.load(std::memory_order_relaxed)) return false;
    self.woken = false;
    // One that lost the latch to a spinner keeps its place at the head.
    if (first_try) {
      sleepers_.push_back(&self);
    } else {
      sleepers_.push_front(&self);
    }
    first_try = false;
    // Bounded, so that a stopping server is noticed without a broadcast to every latch.
    self.awake.wait_for(lock, kNap, [&self] { return self.woken; });
    if (!self.woken) std::erase(sleepers_, &self);
  }
  return true;
}

void Latch::release(LatchOwner owner) {
  if (owner_.load(std::memory_order_relaxed) != owner) return;
  owner_.store(nullptr, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  if (sleepers_.empty()) return;
  Sleeper* first = sleepers_.front();
  sleepers_.pop_front();
  first->woken = true;
  // Under the mutex: the sleeper's condition variable lives on its stack.
  first->awake.notify_one();
}

}  // namespace poolpilot
