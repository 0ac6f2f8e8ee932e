// All worker threads of a server: starts them, gives each its counters, joins those that ended.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "live/histogram.hpp"
#include "live/worker_stats.hpp"

namespace poolpilot {

class ThreadRegistry {
 public:
  // `cpus` are the processors every thread is pinned to; empty leaves them free.
  explicit ThreadRegistry(std::vector<int> cpus) : cpus_(std::move(cpus)) {}
  ~ThreadRegistry() { join_all(); }
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // Starts a thread that runs `body` with counters of its own. False when the system refuses.
  bool start(std::function<void(WorkerStats&)> body);

  // Joins threads that have ended, without waiting for the others.
  void reap();
  // Waits for every thread.
  void join_all();

  int running() const { return running_.load(std::memory_order_relaxed); }

  // Calls `visit` for the counters of every thread there ever was: counters outlive their thread
  // and are handed to a later one, so sums never fall.
  void for_each_stats(const std::function<void(const WorkerStats&)>& visit) const;
  // CPU time of all threads, those that ended included.
  std::int64_t cpu_ns() const;
  // Adds the durations of thread creation to `sum`.
  void add_create_us(HistogramCounts& sum) const;

 private:
  struct Slot {
    WorkerStats stats;
    std::thread thread;
    bool running = false;  // guarded by mutex_
    // Of its CPU time, from its first moment to its last; guarded by mutex_. Not asked of `thread`,
    // which join_all() takes out of the slot.
    std::optional<clockid_t> clock;
  };

  void run(Slot& slot, const std::function<void(WorkerStats&)>& body);

  const std::vector<int> cpus_;
  mutable std::mutex mutex_;
  std::list<std::unique_ptr<Slot>> slots_;
  std::int64_t retired_cpu_ns_ = 0;
  Histogram create_us_;
  // Read without the mutex for the max_threads check, which MariaDB does not order either.
  std::atomic<int> running_{0};
};

// Pins the calling thread; ignores processors the machine does not have.
void pin_this_thread(const std::vector<int>& cpus);

}  // namespace poolpilot
