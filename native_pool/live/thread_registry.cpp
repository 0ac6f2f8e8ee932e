#include "live/thread_registry.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "system/clock.hpp"

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

ThreadRegistry::Slot::Slot(Shard& shard) : stats(shard.mutex, shard.timings) {}

ThreadRegistry::ThreadRegistry(std::vector<int> cpus, std::size_t classes)
    : cpus_(std::move(cpus)) {
  for (std::size_t i = 0; i < kShards; ++i) shards_[i] = std::make_unique<Shard>(classes);
}

bool ThreadRegistry::start(std::function<void(WorkerStats&)> body) {
  Shard& shard = *shards_[started_.fetch_add(1, std::memory_order_relaxed) % kShards];
  const std::lock_guard lock(shard.mutex);
  const auto slot = shard.slots.emplace(shard.slots.end(), shard);
  const std::int64_t begin_ns = now_ns();
  try {
    slot->thread =
        std::thread([this, &shard, slot, body = std::move(body)] { run(shard, slot, body); });
  } catch (const std::system_error&) {
    shard.slots.erase(slot);
    return false;
  }
  running_.fetch_add(1, std::memory_order_relaxed);
  shard.create_us.record(static_cast<std::uint64_t>((now_ns() - begin_ns) / 1'000));
  return true;
}

void ThreadRegistry::run(Shard& shard, SlotPosition slot,
                         const std::function<void(WorkerStats&)>& body) {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  pin_this_thread(cpus_);
  clockid_t clock{};
  if (pthread_getcpuclockid(pthread_self(), &clock) == 0) {
    const std::lock_guard lock(shard.mutex);
    slot->clock = clock;
  }
  body(slot->stats);
  std::thread before;
  {
    const std::lock_guard lock(shard.mutex);
    before = retire(shard, slot);
    running_.fetch_sub(1, std::memory_order_relaxed);
  }
  // It has left the mutex for good, so this is short.
  if (before.joinable()) before.join();
}

// The thread of `slot` ends; returns the one that did before it.
std::thread ThreadRegistry::retire(Shard& shard, SlotPosition slot) {
  slot->stats.hand_in();
  shard.counters.add(slot->stats.counters);
  shard.cpu_ns += thread_cpu_ns();
  shard.active_ns += slot->stats.active.sum_ns();
  std::thread before = std::exchange(shard.ended, std::move(slot->thread));
  shard.slots.erase(slot);
  return before;
}

void ThreadRegistry::join_all() {
  for (const auto& shard : shards_) {
    for (std::thread one = take_joinable(*shard); one.joinable(); one = take_joinable(*shard)) {
      one.join();
    }
  }
}

std::thread ThreadRegistry::take_joinable(Shard& shard) {
  const std::lock_guard lock(shard.mutex);
  if (shard.ended.joinable()) return std::move(shard.ended);
  for (Slot& slot : shard.slots) {
    if (slot.thread.joinable()) return std::move(slot.thread);
  }
  return {};
}

WorkerTotals ThreadRegistry::totals() const {
  WorkerTotals totals;
  for (const auto& shard : shards_) add(totals, *shard);
  return totals;
}

void ThreadRegistry::add(WorkerTotals& totals, Shard& shard) {
  const std::lock_guard lock(shard.mutex);
  totals.counters.add(shard.counters);
  shard.timings.add_to(totals.timings);
  shard.create_us.add_to(totals.create_us);
  totals.cpu_ns += shard.cpu_ns;
  totals.active_ns += active_ns_to_tell(shard);
  for (const Slot& slot : shard.slots) {
    totals.counters.add(slot.stats.counters);
    slot.stats.add_rest_to(totals.timings);
    totals.active_threads += slot.stats.active.is_active() ? 1 : 0;
    if (slot.clock) totals.cpu_ns += read_clock_ns(*slot.clock);
  }
}

// Under the shard's mutex. Each shard's never falls, so their sum does not either.
std::int64_t ThreadRegistry::active_ns_to_tell(Shard& shard) {
  std::int64_t sum_ns = shard.active_ns;
  for (const Slot& slot : shard.slots) sum_ns += slot.stats.active.sum_ns();
  shard.told_active_ns = std::max(shard.told_active_ns, sum_ns);
  return shard.told_active_ns;
}

}  // namespace poolpilot
