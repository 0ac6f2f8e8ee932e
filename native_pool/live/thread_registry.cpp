#include "live/thread_registry.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <system_error>

#include "live/clock.hpp"

namespace poolpilot {
namespace {

// Sleeps end within this of their time: the default of 50 us would blur short waits.
constexpr unsigned long kTimerSlackNs = 1'000;

}  // namespace

void pin_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

bool ThreadRegistry::start(std::function<void(WorkerStats&)> body) {
  const std::lock_guard lock(mutex_);
  auto free_slot = std::ranges::find_if(
      slots_, [](const auto& slot) { return !slot->running && !slot->thread.joinable(); });
  if (free_slot == slots_.end()) {
    slots_.push_back(std::make_unique<Slot>());
    free_slot = std::prev(slots_.end());
  }
  Slot& slot = **free_slot;
  const std::int64_t begin_ns = now_ns();
  try {
    slot.thread = std::thread([this, &slot, body = std::move(body)] { run(slot, body); });
  } catch (const std::system_error&) {
    return false;
  }
  slot.running = true;
  running_.fetch_add(1, std::memory_order_relaxed);
  create_us_.record(static_cast<std::uint64_t>((now_ns() - begin_ns) / 1'000));
  return true;
}

void ThreadRegistry::run(Slot& slot, const std::function<void(WorkerStats&)>& body) {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  pin_this_thread(cpus_);
  clockid_t clock{};
  if (pthread_getcpuclockid(pthread_self(), &clock) == 0) {
    const std::lock_guard lock(mutex_);
    slot.clock = clock;
  }
  body(slot.stats);
  const std::lock_guard lock(mutex_);
  slot.running = false;
  slot.clock.reset();
  retired_cpu_ns_ += thread_cpu_ns();
  running_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadRegistry::reap() {
  const std::lock_guard lock(mutex_);
  for (auto& slot : slots_) {
    // Not running means past its last use of the mutex's data, so this join is short.
    if (!slot->running && slot->thread.joinable()) slot->thread.join();
  }
}

void ThreadRegistry::join_all() {
  for (;;) {
    std::thread last;
    {
      const std::lock_guard lock(mutex_);
      const auto slot =
          std::ranges::find_if(slots_, [](const auto& one) { return one->thread.joinable(); });
      if (slot == slots_.end()) return;
      last = std::move((*slot)->thread);
    }
    last.join();
  }
}

void ThreadRegistry::for_each_stats(const std::function<void(const WorkerStats&)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : slots_) visit(slot->stats);
}

std::int64_t ThreadRegistry::cpu_ns() const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = retired_cpu_ns_;
  for (const auto& slot : slots_) {
    if (slot->clock) sum += read_clock_ns(*slot->clock);
  }
  return sum;
}

void ThreadRegistry::add_create_us(HistogramCounts& sum) const {
  const std::lock_guard lock(mutex_);
  create_us_.add_to(sum);
}

}  // namespace poolpilot
