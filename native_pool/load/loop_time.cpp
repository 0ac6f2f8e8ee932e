#include "load/loop_time.hpp"

#include <algorithm>

#include "system/clock.hpp"

namespace poolpilot::load {
namespace {

constexpr std::int64_t kEveryNs = 20'000'000;

double seconds(std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(ns, 0)) / 1e9; }

}  // namespace

void LoopTime::begin() {
  delay_.open();
  begin_delay_ns_ = delay_.read_ns();
  begin_cpu_ns_ = thread_cpu_ns();
  begin_ns_ = taken_ns_ = now_ns();
}

void LoopTime::look(std::int64_t time_ns) {
  if (time_ns - taken_ns_ >= kEveryNs) take(time_ns);
}

void LoopTime::end() { take(now_ns()); }

void LoopTime::take(std::int64_t time_ns) {
  taken_ns_ = time_ns;
  // A kernel that does not tell the delay says -1 each time.
  const LoopTimes times{seconds(time_ns - begin_ns_), seconds(thread_cpu_ns() - begin_cpu_ns_),
                        seconds(delay_.read_ns() - begin_delay_ns_)};
  const std::lock_guard lock(mutex_);
  times_ = times;
}

LoopTimes LoopTime::read() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

}  // namespace poolpilot::load
