#include "sim/parallel.hpp"

#include <algorithm>

#include "system/start_thread.hpp"

namespace poolpilot::sim {

// Delegates, so that the destructor ends the threads there are when the next one is refused.
ParallelRuns::ParallelRuns(std::vector<PoolRun> runs, int threads) : ParallelRuns(std::move(runs)) {
  const std::size_t count = std::min(runs_.size(), static_cast<std::size_t>(std::max(threads, 1)));
  working_ = count;
  for (PoolRun& run : runs_) run.limits.stop = &stop_;
  for (std::size_t i = 0; i < count; ++i) {
    threads_.push_back(start_thread("a simulation", [this] { work(); }));
  }
}

ParallelRuns::~ParallelRuns() {
  stop();
  for (std::thread& thread : threads_) thread.join();
}

bool ParallelRuns::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return working_ == 0; });
}

void ParallelRuns::work() {
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= runs_.size()) break;
    PoolRun& run = runs_[index];
    try {
      run.done = run.pool->run(run.limits);
    } catch (...) {
      run.failure = std::current_exception();
    }
  }
  const std::lock_guard lock(mutex_);
  --working_;
  ended_.notify_all();
}

}  // namespace poolpilot::sim
