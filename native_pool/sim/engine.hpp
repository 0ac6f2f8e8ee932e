// Virtual time: the events to come, the processors, and the threads whose bursts they run.
//
// Owns the clock, the heap of events, the processors and the table of threads; calls nobody. What
// an event or the end of a burst means, others know. Everything that happens passes through here,
// so all of it can be inlined.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pool/histogram.hpp"
#include "sim/event_heap.hpp"
#include "sim/parts.hpp"
#include "sim/processors.hpp"
#include "sim/settings.hpp"

namespace poolpilot::sim {

class Engine {
 public:
  Engine(const Machine& machine, int max_threads)
      : machine_(machine),
        max_threads_(max_threads),
        processors_(machine.cpus, machine.contention) {
    if (machine.client_shares) threads_.emplace_back().phase = Phase::kClient;
  }

  const Machine& machine() const { return machine_; }
  const Processors& processors() const { return processors_; }
  EventHeap& events() { return events_; }
  TimeNs now_ns() const { return now_ns_; }
  std::int64_t now_us() const { return now_ns_ / 1'000; }

  // What happens next, at the earlier of the two times; the clock goes there first.
  TimeNs next_event_ns() const { return events_.next_ns(); }
  TimeNs next_burst_ns() { return processors_.next_ns(); }
  void go_to(TimeNs time_ns) { now_ns_ = time_ns; }
  std::uint32_t take_event() { return events_.pop().what; }
  // The thread whose burst is over; kNobody when one only lost its processor.
  std::uint32_t end_burst() {
    const std::uint32_t number = processors_.finish();
    if (number != kNobody) book(number);
    return number;
  }

  // The thread's next event, after a delay.
  void schedule(TimeNs delay_ns, std::uint32_t number) {
    events_.push(now_ns_ + delay_ns, event_of(EventIs::kThread, number));
  }

  // Sleepers of a group, and of a latch, have one check before them that counts, that of their
  // first deadline, `first_ns`: an event for each would fill the heap. One that an earlier deadline
  // has overtaken does nothing when it happens. True when `time_ns` is the first now.
  bool push_first(TimeNs& first_ns, TimeNs time_ns, std::uint32_t event) {
    if (first_ns <= time_ns) return false;
    first_ns = std::max(time_ns, now_ns_);
    events_.push(first_ns, event);
    return true;
  }

  // Undefined for a number that start_thread() has not given; the next start_thread() may move it.
  Thread& thread(std::uint32_t number) { return threads_[number]; }
  const Thread& thread(std::uint32_t number) const { return threads_[number]; }
  std::size_t thread_count() const { return threads_.size(); }
  void set_max_threads(int max_threads) { max_threads_ = max_threads; }
  bool is_full() const { return running_threads_ >= max_threads_; }

  void start_thread(std::uint32_t group);
  void end_thread(std::uint32_t number);

  // How long it took to create the threads.
  const Histogram& create_us() const { return create_us_; }

  // The thread works on a processor, for what it owes too; `phase` says what the end of it means.
  void burst(std::uint32_t number, double cpu_ns, Phase phase = Phase::kRunning) {
    Thread& thread = threads_[number];
    thread.phase = phase;
    processors_.start(now_ns_, number, thread.owed_ns + cpu_ns);
    thread.owed_ns = 0.0;
  }

  // A woken thread needs a processor before it can do what it was woken for.
  void wake(std::uint32_t number) {
    Thread& thread = threads_[number];
    thread.woken_ns = now_ns_;
    burst(number, machine_.wake_cost_us * 1e3, thread.phase);
  }

  void spin(std::uint32_t number, double spin_ns);
  // Takes a spinning thread off its spin; false when it has no processor, and its spin ends as soon
  // as it has one.
  bool end_spin(std::uint32_t number);

  // The live executor works in pieces, and looks at the clock after each.
  double in_pieces(double cpu_ns) const {
    const double piece_ns = machine_.piece_us * 1e3;
    return piece_ns > 0.0 ? std::ceil(cpu_ns / piece_ns) * piece_ns : cpu_ns;
  }

 private:
  std::uint32_t free_thread();
  // The processor time of the burst that ends now.
  void book(std::uint32_t number) {
    threads_[number].round_cpu_ns += processors_.taken_ns(now_ns_, number);
  }

  const Machine machine_;
  int max_threads_;
  TimeNs now_ns_ = 0;
  EventHeap events_;
  Processors processors_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> free_threads_;
  int running_threads_ = 0;
  Histogram create_us_;
};

}  // namespace poolpilot::sim
