// The processors of the machine, under either law of sharing them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/contention.hpp"
#include "sim/event_heap.hpp"
#include "sim/processor_sharing.hpp"
#include "sim/time_slices.hpp"

namespace poolpilot::sim {

class Processors {
 public:
  Processors(int cpus, const Contention& contention)
      : sliced_(contention.law == Contention::Law::kSlices),
        sharing_(cpus, contention),
        slices_(cpus, contention) {}

  // Makes `thread` runnable with `work_ns` of work, measured on an otherwise idle processor.
  void start(TimeNs now_ns, std::uint32_t thread, double work_ns) {
    if (sliced_) return slices_.start(now_ns, thread, work_ns);
    if (thread >= begun_ns_.size()) begun_ns_.resize(thread + 1);
    begun_ns_[thread] = sharing_.thread_cpu_ns(now_ns);
    sharing_.start(now_ns, thread, work_ns);
  }

  // Makes it spin for `spin_ns` of time; where processors are shared, of work.
  void spin(TimeNs now_ns, std::uint32_t thread, double spin_ns) {
    if (!sliced_) return start(now_ns, thread, spin_ns);
    slices_.start(now_ns, thread, kEndlessNs, now_ns + whole_ns(spin_ns));
  }

  // When the next thread is done or loses its processor; kNever when none is runnable.
  TimeNs next_ns() { return sliced_ ? slices_.next_ns() : sharing_.next_ns(); }

  // The thread that is done at next_ns(); kNobody when one only lost its processor.
  std::uint32_t finish() { return sliced_ ? slices_.finish() : sharing_.finish(); }

  // Takes a thread that is on a processor off its work; it may start anew in this instant.
  void cancel(TimeNs now_ns, std::uint32_t thread) {
    sliced_ ? slices_.cancel(now_ns, thread) : sharing_.cancel(now_ns, thread);
  }

  // A spinning thread that has no processor now ends its spin as soon as it has one.
  void hurry(TimeNs now_ns, std::uint32_t thread) {
    if (sliced_) slices_.hurry(now_ns, thread);
  }

  // Whether a runnable thread makes progress now.
  bool on_processor(std::uint32_t thread) const { return !sliced_ || slices_.on_processor(thread); }

  // Whether a thread can be put off its processor.
  bool is_sliced() const { return sliced_; }

  int runnable() const { return sliced_ ? slices_.runnable() : sharing_.runnable(); }

  double busy_ns(TimeNs now_ns) const {
    return sliced_ ? slices_.busy_ns(now_ns) : sharing_.busy_ns(now_ns);
  }

  // How often a thread has lost a processor that it was not done with; always 0 under sharing.
  std::int64_t times_put_off(std::uint32_t thread) const {
    return sliced_ ? slices_.times_put_off(thread) : 0;
  }

  // Processor time of a thread's burst that is over at `now_ns`.
  double taken_ns(TimeNs now_ns, std::uint32_t thread) const {
    if (sliced_) return slices_.taken_ns(thread);
    return sharing_.thread_cpu_ns(now_ns) - begun_ns_[thread];
  }

 private:
  static constexpr double kEndlessNs = 1e18;

  bool sliced_;
  ProcessorSharing sharing_;
  TimeSlices slices_;
  std::vector<double> begun_ns_;  // by thread: where its burst began
};

}  // namespace poolpilot::sim
