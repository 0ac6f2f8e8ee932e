// Processors that run one thread at a time: a thread keeps its processor for a slice, the others
// wait.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/contention.hpp"
#include "sim/event_heap.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {

// A fair scheduler after Linux's EEVDF (Stoica and Abdel-Wahab, 1995), with one queue for all
// processors. Every thread has a virtual runtime, the processor time it has had; a processor that
// comes free takes the waiting thread of the least. A thread that wakes enters as far behind the
// mean of the runnable ones as it was when it went to sleep, up to a credit: who uses less than its
// share goes first, and puts off a thread that has had more. A thread that is put off stands still,
// and with it whoever waits for a latch it holds: that is what processor sharing cannot show.
class TimeSlices {
 public:
  TimeSlices(int cpus, const Contention& contention)
      : slice_ns_(contention.quantum_us * 1e3),
        credit_ns_(contention.credit_us * 1e3),
        switch_ns_(contention.switch_us * 1e3),
        cores_(static_cast<std::size_t>(cpus)) {
    for (std::uint32_t core = static_cast<std::uint32_t>(cpus); core > 0; --core) {
      idle_.push_back(core - 1);
    }
  }

  // Makes `thread` runnable with `work_ns` of work. On its processor it also ends at `until_ns`. A
  // thread that starts anew in the instant in which it was done keeps its processor.
  void start(TimeNs now_ns, std::uint32_t thread, double work_ns, TimeNs until_ns = kNever) {
    now_ns_ = now_ns;
    if (thread >= tasks_.size()) tasks_.resize(thread + 1);
    Task& task = tasks_[thread];
    task.left_ns = work_ns;
    task.taken_ns = 0.0;
    task.until_ns = until_ns;
    if (task.core != kNobody) {
      ++runnable_;
      virtual_sum_ns_ += task.virtual_ns;
      return run_on(task.core, thread);
    }
    const double mean_ns = mean_virtual_ns();
    task.virtual_ns =
        task.lag_ns > 0.0 ? mean_ns - task.lag_ns : std::max(task.virtual_ns, mean_ns);
    ++runnable_;
    virtual_sum_ns_ += task.virtual_ns;
    if (idle_.empty()) return preempt_or_wait(thread);
    const std::uint32_t core = idle_.back();
    idle_.pop_back();
    give(core, thread);
  }

  // When the next thread is done or has used its slice; kNever when none is runnable.
  TimeNs next_ns() {
    if (!left_.empty()) settle();
    while (!ends_.empty() && cores_[ends_.front().what].ends_ns != ends_.next_ns()) ends_.pop();
    return ends_.next_ns();
  }

  // The thread that is done at next_ns(); kNobody when only a slice ended then.
  std::uint32_t finish() {
    const EventHeap::Entry end = ends_.pop();
    now_ns_ = end.key;
    Core& core = cores_[end.what];
    const std::uint32_t thread = core.thread;
    stop(end.what);
    const Task& task = tasks_[thread];
    if (task.left_ns < kDoneNs || now_ns_ >= task.until_ns) {
      leave(end.what);
      return thread;
    }
    if (waiting_.empty() || waiting_.front().key > task.virtual_ns) {
      core.slice_ends_ns = now_ns_ + drawn_slice_ns();
      run_on(end.what, thread);
      return kNobody;
    }
    const std::uint32_t next = waiting_.pop().what;
    put_off(thread);
    give(end.what, next);
    return kNobody;
  }

  // Takes a thread that is on a processor off its work; it may start anew in this instant.
  void cancel(TimeNs now_ns, std::uint32_t thread) {
    now_ns_ = now_ns;
    const std::uint32_t core = tasks_[thread].core;
    stop(core);
    leave(core);
  }

  // A thread that waits for a processor will be done as soon as it has one.
  void hurry(TimeNs now_ns, std::uint32_t thread) { tasks_[thread].until_ns = now_ns; }

  bool on_processor(std::uint32_t thread) const { return tasks_[thread].core != kNobody; }
  int runnable() const { return runnable_; }

  // Processor time of the thread's burst, up to where it was done or cancelled.
  double taken_ns(std::uint32_t thread) const { return tasks_[thread].taken_ns; }

  // How often it has lost a processor that it was not done with.
  std::int64_t times_put_off(std::uint32_t thread) const {
    return thread < tasks_.size() ? tasks_[thread].times_put_off : 0;
  }

  // Processor time used by all threads until `now_ns`.
  double busy_ns(TimeNs now_ns) const { return busy_ns_ + under_way_ns(now_ns); }

 private:
  static constexpr double kDoneNs = 0.5;
  static constexpr double kLongestNs = 1e17;

  struct Task {
    double virtual_ns = 0.0;
    double left_ns = 0.0;
    double taken_ns = 0.0;
    double lag_ns = 0.0;  // behind the mean when it went to sleep
    TimeNs until_ns = kNever;
    std::uint32_t core = kNobody;
    std::uint32_t last_core = kNobody;
    std::int64_t times_put_off = 0;
  };

  struct Core {
    std::uint32_t thread = kNobody;  // that runs, or was done in this instant
    std::uint32_t last = kNobody;
    bool running = false;
    TimeNs since_ns = 0;
    TimeNs slice_ends_ns = 0;
    TimeNs ends_ns = kNever;
  };

  // From 0 to twice the mean: a timer tick, an interrupt or another process ends a slice at a time
  // that has nothing to do with its beginning. Were all slices alike, threads would march in step
  // and never meet at a latch.
  TimeNs drawn_slice_ns() { return 1 + static_cast<TimeNs>(slice_ns_ * 2.0 * random_.uniform()); }

  double under_way_ns(TimeNs now_ns) const {
    return static_cast<double>(now_ns * running_ - since_sum_ns_);
  }

  // Of the runnable; there is one at least.
  double present_mean_ns() const { return (virtual_sum_ns_ + under_way_ns(now_ns_)) / runnable_; }

  // Where a thread enters: it never falls.
  double mean_virtual_ns() {
    if (runnable_ > 0) floor_ns_ = std::max(floor_ns_, present_mean_ns());
    return floor_ns_;
  }

  void give(std::uint32_t index, std::uint32_t thread) {
    Core& core = cores_[index];
    tasks_[thread].core = tasks_[thread].last_core = index;
    if (core.last != thread) tasks_[thread].left_ns += switch_ns_;
    core.last = thread;
    core.slice_ends_ns = now_ns_ + drawn_slice_ns();
    run_on(index, thread);
  }

  void run_on(std::uint32_t index, std::uint32_t thread) {
    Core& core = cores_[index];
    const Task& task = tasks_[thread];
    core.thread = thread;
    core.running = true;
    core.since_ns = now_ns_;
    ++running_;
    since_sum_ns_ += now_ns_;
    const auto left_ns = static_cast<TimeNs>(std::ceil(std::min(task.left_ns, kLongestNs)));
    const TimeNs done_ns = std::min(now_ns_ + left_ns, std::max(now_ns_, task.until_ns));
    core.ends_ns = std::min(done_ns, std::max(core.slice_ends_ns, now_ns_));
    ends_.push(core.ends_ns, index);
  }

  // Books what the thread on a processor has had since it was looked at last.
  void stop(std::uint32_t index) {
    Core& core = cores_[index];
    Task& task = tasks_[core.thread];
    const auto used_ns = static_cast<double>(now_ns_ - core.since_ns);
    task.left_ns -= used_ns;
    task.taken_ns += used_ns;
    task.virtual_ns += used_ns;
    virtual_sum_ns_ += used_ns;
    busy_ns_ += used_ns;
    --running_;
    since_sum_ns_ -= core.since_ns;
    core.running = false;
    core.ends_ns = kNever;
  }

  void leave(std::uint32_t index) {
    Task& task = tasks_[cores_[index].thread];
    task.lag_ns = std::min(mean_virtual_ns() - task.virtual_ns, credit_ns_);
    virtual_sum_ns_ -= task.virtual_ns;
    --runnable_;
    left_.push_back(index);
  }

  // Processors whose threads were done and did not start anew go to those who wait.
  void settle() {
    for (const std::uint32_t index : left_) {
      Core& core = cores_[index];
      if (core.running || core.thread == kNobody) continue;
      tasks_[core.thread].core = kNobody;
      core.thread = kNobody;
      if (waiting_.empty()) {
        idle_.push_back(index);
      } else {
        give(index, waiting_.pop().what);
      }
    }
    left_.clear();
  }

  // A woken thread puts off the one on the processor it ran on last, if that has had more than the
  // mean and nobody who waits has had less than the woken one.
  void preempt_or_wait(std::uint32_t thread) {
    const double mean_ns = present_mean_ns();
    const Task& task = tasks_[thread];
    const std::uint32_t home = task.last_core == kNobody
                                   ? thread % static_cast<std::uint32_t>(cores_.size())
                                   : task.last_core;
    const Core& core = cores_[home];
    const bool first = waiting_.empty() || waiting_.front().key > task.virtual_ns;
    if (!core.running || !first || task.virtual_ns > mean_ns) return wait(thread);
    const std::uint32_t running = core.thread;
    const auto used_ns = static_cast<double>(now_ns_ - core.since_ns);
    if (tasks_[running].virtual_ns + used_ns <= mean_ns) return wait(thread);
    stop(home);
    put_off(running);
    give(home, thread);
  }

  void put_off(std::uint32_t thread) {
    tasks_[thread].core = kNobody;
    ++tasks_[thread].times_put_off;
    wait(thread);
  }

  void wait(std::uint32_t thread) { waiting_.push(tasks_[thread].virtual_ns, thread); }

  Random random_;
  double slice_ns_;
  double credit_ns_;
  double switch_ns_;
  std::vector<Core> cores_;
  std::vector<Task> tasks_;  // by thread
  std::vector<std::uint32_t> idle_;
  std::vector<std::uint32_t> left_;  // processors whose threads were done in this instant
  ThreadHeap waiting_;               // by virtual runtime
  EventHeap ends_;                   // of the processors; what no longer holds is skipped
  TimeNs now_ns_ = 0;
  int runnable_ = 0;
  int running_ = 0;
  TimeNs since_sum_ns_ = 0;
  double virtual_sum_ns_ = 0.0;  // of the runnable, as last booked
  double floor_ns_ = 0.0;        // the mean never falls
  double busy_ns_ = 0.0;
};

}  // namespace poolpilot::sim
