// What a simulated pool is made of: connections, threads, and the kinds of its events.
#pragma once

#include <array>
#include <cstdint>

#include "policy/admission.hpp"
#include "queues/classifier.hpp"
#include "queues/step.hpp"
#include "sim/event_heap.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {

struct Connection : AdmissionTicket, Sender {
  Random random;          // its own, so that its n-th request is the same under every tuple
  TimeNs parked_ns = -1;  // when its request had to wait for admission; -1: it did not
  TimeNs enqueued_ns = 0;
  TimeNs last_response_ns = 0;
  TimeNs sent_ns = 0;
  std::uint64_t held_latches = 0;  // a bit each
  std::uint32_t group = 0;
  std::uint32_t thread = kNobody;  // that serves it
  std::uint16_t class_id = 0;
  bool fresh = true;  // its first turn only arms it, as a login would
  // Its place in the discipline, while a thread serves it.
  std::uint32_t taken_by = 0;  // group
  double expected_us = 0.0;
  TimeNs taken_ns = 0;
};

inline constexpr std::uint32_t kClientThread = 0;  // where the generator runs on the processors

// What a thread's next event means. One that wakes it is followed by a burst of the same phase: it
// needs a processor first.
enum class Phase : std::uint8_t {
  kCreated,   // runs for the first time: looks for work
  kWorker,    // woken: looks for work
  kListener,  // woken by its poll
  kLogin,     // its burst of processor time for a new connection ends
  kParking,   // its burst for a request that must wait for admission ends: looks for work
  kRefusing,  // its burst for one that may not even wait ends
  kRunning,   // its burst of processor time ends: the program goes on
  kSpinning,  // its spin ends without the latch
  kWaiting,   // its wait ends: the program goes on
  kAtDisk,    // its service at the disk ends
  kFlushing,  // the log is flushed up to its commit
  kLatch,     // woken to try the latch again
  kClient,    // the load generator has received an answer and sent a request
  kSleeping,  // no event: idle, or asleep for a latch
};

struct Thread {
  std::uint32_t group = 0;
  std::uint32_t connection = kNobody;
  Phase phase = Phase::kCreated;
  bool wait_reported = false;
  WaitKind wait_kind = WaitKind::kSleep;  // of the wait under way
  std::uint8_t latch = 0;                 // that it waits for
  std::uint16_t step = 0;                 // that the program does next
  std::uint16_t disk = 0;
  TimeNs waiting_since_ns = 0;  // for a latch
  TimeNs idle_until_ns = 0;
  double service_ns = 0.0;  // at the disk
  double owed_ns = 0.0;     // processor time to pay before its next work
  // The active round under way.
  TimeNs round_begin_ns = 0;
  TimeNs off_since_ns = 0;  // a wait began
  TimeNs woken_ns = 0;      // it ended, and the thread became runnable
  double round_cpu_ns = 0.0;
  double round_off_ns = 0.0;  // waited silently
  double run_delay_ns = 0.0;  // of the whole request
  std::int64_t rounds = 0;
  std::int64_t switches = 0;  // of its own will, in this request
  std::int64_t put_off_before = 0;
  std::array<std::uint8_t, kLatches> drawn{};  // latch drawn by the last Acquire from a base
};

// An event is its kind in the high bits and a number in the others.
enum class EventIs : std::uint32_t {
  kThread,          // of a thread, see Phase
  kLeave,           // the pause of a connection is over
  kSend,            // its request reaches the server
  kArrival,         // of an open loop
  kTick,            // of the timer, with the epoch of the interval it belongs to
  kIdleCheck,       // of a group
  kStallCheck,      // of a pool of the hybrid handler: those who serve may sleep
  kLatchCheck,      // of a latch: somebody may have slept for it for too long
  kAdmissionCheck,  // a transaction may have become a long one
  kChange,          // of the load
  kFlushed,         // the log has been flushed
};
inline constexpr std::uint32_t kNumberBits = 28;
inline constexpr std::uint32_t kNumberMask = (1U << kNumberBits) - 1;

constexpr std::uint32_t event_of(EventIs kind, std::uint32_t number) {
  return (static_cast<std::uint32_t>(kind) << kNumberBits) | (number & kNumberMask);
}

}  // namespace poolpilot::sim
