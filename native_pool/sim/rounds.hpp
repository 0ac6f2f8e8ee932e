// What is counted of requests, and the rounds of the request that a thread serves, as
// Executor::Rounds of the live server.
//
// Rounds are kept in the thread itself; what they add up to goes into the measures. Calls the
// engine for the clock and for what the processors say.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pool/worker_stats.hpp"
#include "sim/engine.hpp"

namespace poolpilot::sim {

struct Measures {
  explicit Measures(std::size_t classes) : timings(classes) {}

  WorkerCounters counters;
  TimingSums timings;
  std::int64_t refused = 0;  // requests answered so; beside completed and failed
};

class Rounds {
 public:
  Rounds(const Engine& engine, Measures& measures) : engine_(engine), measures_(measures) {}

  // A thread takes up a request.
  void begin(std::uint32_t number, Thread& thread) const {
    thread.rounds = 0;
    thread.switches = 0;
    thread.put_off_before = engine_.processors().times_put_off(number);
    thread.run_delay_ns = 0.0;
    begin_active(thread);
    // As in the live server the overhead is no part of the round.
    const double overhead_ns = engine_.machine().overhead_us * 1e3;
    thread.round_begin_ns += whole_ns(overhead_ns);
    thread.round_cpu_ns -= overhead_ns;
  }

  // It leaves the processor until an event of its own.
  void begin_wait(Thread& thread, bool reported) const {
    ++thread.switches;
    thread.off_since_ns = engine_.now_ns();
    thread.wait_reported = reported;
    if (reported) end_active(thread);
  }

  void end_wait(Thread& thread) const {
    if (!thread.wait_reported) {
      thread.round_off_ns += static_cast<double>(thread.woken_ns - thread.off_since_ns);
      return;
    }
    thread.wait_reported = false;
    const auto wall_ns = static_cast<double>(engine_.now_ns() - thread.off_since_ns);
    measures_.timings.record(Timing::kWaitRound, whole_us(wall_ns));
    begin_active(thread);
  }

  void finish(std::uint32_t number, Thread& thread) const {
    end_active(thread);
    measures_.timings.record(Timing::kActiveRounds, static_cast<std::uint64_t>(thread.rounds));
    measures_.counters.sampled_requests.add();
    measures_.counters.voluntary_switches.add(thread.switches);
    measures_.counters.involuntary_switches.add(involuntary_switches(number, thread));
  }

 private:
  void begin_active(Thread& thread) const {
    thread.round_begin_ns = engine_.now_ns();
    thread.round_cpu_ns = 0.0;
    thread.round_off_ns = 0.0;
  }

  void end_active(Thread& thread) const {
    const auto wall_ns = static_cast<double>(engine_.now_ns() - thread.round_begin_ns);
    const double delay_ns = std::max(wall_ns - thread.round_cpu_ns - thread.round_off_ns, 0.0);
    ++thread.rounds;
    thread.run_delay_ns += delay_ns;
    measures_.timings.record(Timing::kActiveRound, whole_us(wall_ns));
    measures_.timings.record(Timing::kRoundCpu, whole_us(thread.round_cpu_ns));
    measures_.timings.record(Timing::kRunDelay, whole_us(delay_ns));
  }

  std::int64_t involuntary_switches(std::uint32_t number, const Thread& thread) const {
    const Processors& processors = engine_.processors();
    if (processors.is_sliced()) return processors.times_put_off(number) - thread.put_off_before;
    // Where processors are shared, a thread that waits for one counts as put off once a quantum.
    const double quantum_ns = engine_.machine().contention.quantum_us * 1e3;
    return static_cast<std::int64_t>(thread.run_delay_ns / quantum_ns);
  }

  const Engine& engine_;
  Measures& measures_;
};

}  // namespace poolpilot::sim
