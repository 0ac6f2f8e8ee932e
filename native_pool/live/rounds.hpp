// The active and wait rounds of one request, measured on the thread that runs it.
//
// The cheap part is one read of the monotonic clock a round; the dear part (CPU clock, schedstat,
// rusage) runs for sampled requests only.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "pool/worker_stats.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

// Time a thread was runnable but not running, from the kernel's schedstat. Opened once a request
// that is sampled: kept open it would cost a descriptor a thread.
class RunDelay {
 public:
  void open();
  // -1 where there is none.
  std::int64_t read_ns() const;

 private:
  Descriptor file_;
};

class Rounds {
 public:
  // Without `on` nothing is measured but the end.
  Rounds(WorkerStats& stats, bool on, bool sampled, std::int64_t start_ns);

  // Returns when that was.
  std::int64_t finish();
  void begin_wait();
  void end_wait();

 private:
  void count_switches();
  void begin_active(std::int64_t time_ns);
  std::int64_t end_active(std::int64_t time_ns);

  WorkerStats& stats_;
  const bool on_;
  const bool sampled_;
  std::uint64_t rounds_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t begin_cpu_ns_ = 0;
  std::int64_t begin_delay_ns_ = -1;
  RunDelay delay_;
  rusage usage_{};
};

}  // namespace poolpilot
