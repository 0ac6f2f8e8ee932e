// Processors shared by runnable threads: everyone progresses at the same speed at the same time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/contention.hpp"
#include "sim/event_heap.hpp"

namespace poolpilot::sim {

// Keeps a virtual clock that advances by the work every runnable thread has done. A thread with w
// of work left is done when that clock has advanced by w, whatever comes and goes meanwhile, so an
// event costs one heap operation and no thread is touched but the one that starts or ends.
class ProcessorSharing {
 public:
  ProcessorSharing(int cpus, const Contention& contention) : cpus_(cpus), contention_(contention) {}

  // Makes `thread` runnable with `work_ns` of work, measured on an otherwise idle processor.
  void start(TimeNs now_ns, std::uint32_t thread, double work_ns) {
    advance(now_ns);
    jobs_.push(virtual_ns_ + work_ns, thread);
    ++runnable_;
    reschedule();
  }

  // When the next thread is done; kNever when none is runnable.
  TimeNs next_ns() const { return next_ns_; }

  // The thread that is done at next_ns(). Undefined when there is none.
  std::uint32_t finish() {
    advance(next_ns_);
    const std::uint32_t thread = jobs_.pop().what;
    --runnable_;
    reschedule();
    return thread;
  }

  // Takes a thread off before its work is done: linear in the runnable threads.
  void cancel(TimeNs now_ns, std::uint32_t thread) {
    advance(now_ns);
    if (!jobs_.remove(thread)) return;
    --runnable_;
    reschedule();
  }

  int runnable() const { return runnable_; }

  // Processor time used by all threads until `now_ns`.
  double busy_ns(TimeNs now_ns) const {
    return busy_ns_ + static_cast<double>(now_ns - last_ns_) * std::min(runnable_, cpus_);
  }

  // Processor time that a thread runnable all along would have used until `now_ns`: the difference
  // of two readings is the processor time of a thread runnable between them.
  double thread_cpu_ns(TimeNs now_ns) const {
    return shared_ns_ + static_cast<double>(now_ns - last_ns_) * share();
  }

 private:
  double share() const { return runnable_ <= cpus_ ? 1.0 : static_cast<double>(cpus_) / runnable_; }

  void advance(TimeNs now_ns) {
    const auto span = static_cast<double>(now_ns - last_ns_);
    last_ns_ = now_ns;
    shared_ns_ += span * share();
    if (runnable_ == 0) return;
    virtual_ns_ += span * speed_;
    busy_ns_ += span * std::min(runnable_, cpus_);
  }

  void reschedule() {
    if (jobs_.empty()) {
      next_ns_ = kNever;
      // An idle machine starts its virtual clock anew, which keeps it precise however long it runs.
      virtual_ns_ = 0.0;
      return;
    }
    speed_ = speed_of(runnable_);
    const double left = std::max(jobs_.front().key - virtual_ns_, 0.0);
    // Work that many share may last longer than the clock can tell.
    next_ns_ = last_ns_ + static_cast<TimeNs>(std::min(std::ceil(left / speed_), kLongestSpanNs));
  }

  double speed_of(int runnable) {
    const auto place = static_cast<std::size_t>(runnable);
    while (speeds_.size() <= place) {
      speeds_.push_back(contention_.speed(static_cast<int>(speeds_.size()), cpus_));
    }
    return speeds_[place];
  }

  int cpus_;
  Contention contention_;
  std::vector<double> speeds_;  // by number of runnable threads
  ThreadHeap jobs_;             // by the virtual time at which they are done
  int runnable_ = 0;
  double speed_ = 1.0;
  double virtual_ns_ = 0.0;
  double busy_ns_ = 0.0;
  double shared_ns_ = 0.0;
  TimeNs last_ns_ = 0;
  TimeNs next_ns_ = kNever;
};

}  // namespace poolpilot::sim
