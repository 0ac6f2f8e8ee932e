#include "live/latch.hpp"

#include <algorithm>
#include <chrono>

namespace poolpilot {

bool Latch::try_acquire(LatchOwner owner) {
  LatchOwner expected = nullptr;
  if (owner_.load(std::memory_order_relaxed) == owner) return true;
  return owner_.load(std::memory_order_relaxed) == nullptr &&
         owner_.compare_exchange_strong(expected, owner, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

bool Latch::acquire_sleeping(LatchOwner owner, std::int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  Sleeper self;
  bool lost = false;  // to somebody quicker, after it was woken
  // Checked under the mutex: release() frees the latch before it takes the mutex to wake a sleeper,
  // so a sleeper either sees it free here or is in the queue by then.
  while (!try_acquire(owner)) {
    self.woken = false;
    if (lost) {
      sleepers_.push_front(&self);
    } else {
      sleepers_.push_back(&self);
    }
    if (!sleep(self, lock, deadline_ns)) return try_acquire(owner);
    lost = true;
  }
  return true;
}

// Until it is woken; false, and out of the queue, when nobody has woken it.
bool Latch::sleep(Sleeper& self, std::unique_lock<std::mutex>& lock, std::int64_t deadline_ns) {
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
  self.awake.wait_until(lock, deadline, [&] { return self.woken || stopped_; });
  if (!self.woken) std::erase(sleepers_, &self);
  return self.woken;
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

std::size_t Latch::sleepers() const {
  const std::lock_guard lock(mutex_);
  return sleepers_.size();
}

void Latch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (Sleeper* sleeper : sleepers_) sleeper->awake.notify_one();
}

}  // namespace poolpilot
