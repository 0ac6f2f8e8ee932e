// Runs many simulated pools on all processors at once; each pool is run by one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sim/pool.hpp"

namespace poolpilot::sim {

struct PoolRun {
  SimulatedPool* pool = nullptr;
  RunLimits limits;            // `stop` is set by the runs themselves
  bool done = false;           // it reached a limit
  std::exception_ptr failure;  // what it has thrown; the pool is then good for nothing else
};

// The runs begin when it is made, in the order given, on `threads` threads. Throws
// std::system_error when the system refuses one; then none of them runs on.
class ParallelRuns {
 public:
  ParallelRuns(std::vector<PoolRun> runs, int threads);
  ~ParallelRuns();
  ParallelRuns(const ParallelRuns&) = delete;
  ParallelRuns& operator=(const ParallelRuns&) = delete;

  // Waits until all have ended or the time is over; true when they have.
  bool wait_for(std::chrono::milliseconds time);
  // Ends those under way at their next look at the flag; the others never begin.
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  // What became of them; call once wait_for has returned true.
  const std::vector<PoolRun>& results() const { return runs_; }

 private:
  explicit ParallelRuns(std::vector<PoolRun> runs) : runs_(std::move(runs)) {}
  void work();

  std::vector<PoolRun> runs_;
  // Relaxed: it hands out indices; each run is touched by the one thread that got its index, and
  // the join (or the mutex of wait_for) orders the results.
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};  // relaxed: it only ends loops
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t working_ = 0;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace poolpilot::sim
