// Runs step programs on a worker thread: burns CPU, waits, takes latches, and measures the rounds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "live/connection.hpp"
#include "live/executor_settings.hpp"
#include "live/latch.hpp"
#include "live/protocol.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

// The pool as a request sees it: where it reports that it is about to wait.
class WaitReporter {
 public:
  virtual ~WaitReporter() = default;
  virtual void wait_begin() = 0;
  virtual void wait_end() = 0;
};

class Executor {
 public:
  Executor(const ExecutorSettings& settings, const std::atomic<bool>& stopping)
      : settings_(settings), stopping_(stopping) {}

  // Runs one request to its end, or to where a stop cuts it short. Latches are kept only inside a
  // transaction that goes on.
  // The request began at `start_ns`; the connection is told when it ended.
  Status run(Connection& connection, WaitReporter& reporter, WorkerStats& stats,
             std::int64_t start_ns);

  // Gives back what a connection still holds.
  void abandon(Connection& connection);

  // Ends every wait for a latch. Waits and work of other kinds look at `stopping` for themselves.
  void stop();

  const ExecutorSettings& settings() const { return settings_; }

 private:
  class Rounds;

  bool is_sampled(const WorkerStats& stats, std::int64_t start_ns);
  Status run_step(Connection& connection, const Step& step, WaitReporter& reporter, Rounds& rounds,
                  WorkerStats& stats);
  Status acquire(Connection& connection, const Step& step, WaitReporter& reporter, Rounds& rounds,
                 WorkerStats& stats);
  Status wait(const Step& step, WaitReporter& reporter, Rounds& rounds, WorkerStats& stats);
  Status burn(std::int64_t cpu_ns) const;
  Status sleep(std::int64_t wall_ns) const;

  const ExecutorSettings settings_;
  const std::atomic<bool>& stopping_;
  // From when a request may be sampled again. Relaxed: two threads at once sample one too many.
  std::atomic<std::int64_t> next_sample_ns_{0};
  std::array<Latch, kLatches> latches_;
};

}  // namespace poolpilot
