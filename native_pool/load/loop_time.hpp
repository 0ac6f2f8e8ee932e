// What the thread of a load loop had of a processor. A loop that never rests, or that waits for a
// processor while requests are due, is the bottleneck of its own measurement.
#pragma once

#include <cstdint>
#include <mutex>

#include "live/rounds.hpp"

namespace poolpilot::load {

// All since the loop began, and of one moment.
struct LoopTimes {
  double wall_s = 0.0;
  double cpu_s = 0.0;
  double waited_s = 0.0;  // ready to run, but without a processor
};

// Written by the loop's thread, a few times a second so that it costs nothing; read by any.
class LoopTime {
 public:
  void begin();
  void look(std::int64_t time_ns);  // at every turn of the loop
  void end();
  LoopTimes read() const;

 private:
  void take(std::int64_t time_ns);

  RunDelay delay_;
  std::int64_t begin_ns_ = 0;
  std::int64_t begin_cpu_ns_ = 0;
  std::int64_t begin_delay_ns_ = 0;
  std::int64_t taken_ns_ = 0;
  mutable std::mutex mutex_;
  LoopTimes times_;  // guarded by mutex_
};

}  // namespace poolpilot::load
