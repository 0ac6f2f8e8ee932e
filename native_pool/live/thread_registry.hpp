// All worker threads of a server: starts them, adds up what they count, joins those that ended.
//
// Threads are dealt out to shards, each with a mutex of its own, so that starting one and adding
// them up hold each other up for a part of the threads only. A thread has a slot from start()
// until, as its last act under the mutex, it hands in what it has counted, leaves its handle as the
// shard's `ended` and gives up the slot; then it joins the one that ended before it. So at most one
// thread of a shard has ended without being joined, whatever the timer does.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "pool/histogram.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

// Of every thread there ever was, up to now: sums never fall, however many ask at once.
struct WorkerTotals {
  WorkerCounters counters;
  std::vector<HistogramCounts> timings;
  HistogramCounts create_us;  // how long creating a thread took
  std::int64_t cpu_ns = 0;
  std::int64_t active_ns = 0;  // at work, of threads that keep that clock
  int active_threads = 0;      // now
};

class ThreadRegistry {
 public:
  // `cpus` are the processors every thread is pinned to; empty leaves them free.
  ThreadRegistry(std::vector<int> cpus, std::size_t classes);
  ~ThreadRegistry() { join_all(); }
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // Starts a thread that runs `body` with counters of its own. False when the system refuses.
  bool start(std::function<void(WorkerStats&)> body);

  // Waits for every thread; none is started from now on.
  void join_all();

  int running() const { return running_.load(std::memory_order_relaxed); }

  // Costs a look at each thread that runs, and holds one shard at a time.
  WorkerTotals totals() const;

 private:
  static constexpr std::size_t kShards = 16;
  struct Shard;

  struct Slot {
    explicit Slot(Shard& shard);

    WorkerStats stats;
    std::thread thread;
    // Of its CPU time, from its first moment to its last. Not asked of `thread`, which join_all()
    // takes out of the slot.
    std::optional<clockid_t> clock;
  };

  // Everything is guarded by its mutex, but for what a thread does with its own stats.
  struct Shard {
    explicit Shard(std::size_t classes) : timings(classes) {}

    mutable std::mutex mutex;
    std::list<Slot> slots;    // of threads that run
    std::thread ended;        // the last that did, until the next joins it
    WorkerCounters counters;  // of those that ended
    TimingSums timings;
    Histogram create_us;
    std::int64_t cpu_ns = 0;  // of those that ended
    std::int64_t active_ns = 0;
    // The most that was told of all, those that run as well: an ActiveTime may fall a little.
    std::int64_t told_active_ns = 0;
  };

  using SlotPosition = std::list<Slot>::iterator;

  void run(Shard& shard, SlotPosition slot, const std::function<void(WorkerStats&)>& body);
  static std::thread retire(Shard& shard, SlotPosition slot);
  static void add(WorkerTotals& totals, Shard& shard);
  static std::int64_t active_ns_to_tell(Shard& shard);
  static std::thread take_joinable(Shard& shard);

  const std::vector<int> cpus_;
  std::array<std::unique_ptr<Shard>, kShards> shards_;
  // Which shard is next; relaxed, any order will do.
  std::atomic<std::size_t> started_{0};
  // Read without the mutex for the max_threads check, which MariaDB does not order either.
  std::atomic<int> running_{0};
};

// Pins the calling thread; ignores processors the machine does not have.
void pin_this_thread(const std::vector<int>& cpus);

}  // namespace poolpilot
