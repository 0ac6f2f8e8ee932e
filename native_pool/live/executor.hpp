// Runs step programs on a worker thread: burns CPU, waits, takes latches, and measures the rounds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "live/connection.hpp"
#include "live/executor_settings.hpp"
#include "live/latch.hpp"
#include "live/protocol.hpp"
#include "live/wait_reporter.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

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
  struct Execution;
  class ReportedWait;

  bool is_sampled(const WorkerStats& stats, std::int64_t start_ns);
  Status run_step(const Step& step, Execution& execution);
  Status acquire(const Step& step, Execution& execution);
  bool contend(Latch& latch, const Step& step, Execution& execution) const;
  Status wait(const Step& step, Execution& execution) const;
  Status burn(std::int64_t cpu_ns) const;
  Status sleep(std::int64_t wall_ns) const;

  const ExecutorSettings settings_;
  const std::atomic<bool>& stopping_;
  // From when a request may be sampled again. Relaxed: two threads at once sample one too many.
  std::atomic<std::int64_t> next_sample_ns_{0};
  std::array<Latch, kLatches> latches_;
};

}  // namespace poolpilot
