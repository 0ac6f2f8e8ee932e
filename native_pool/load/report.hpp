// What a load generator has counted: written by its loop, read by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "load/loop_time.hpp"
#include "pool/histogram.hpp"

namespace poolpilot::load {

// Why a connection ended, or did not answer.
enum class Fault : std::size_t {
  kClosedByServer = 0,
  kReset,
  kSocket,
  kMalformed,
  kUnanswered,
  kNotConnected,  // refused, or not in time
  kNoLocalPort,   // all ports are taken, or in TIME_WAIT after earlier connections
};
inline constexpr std::array<const char*, 7> kFaultNames{
    "closed_by_server", "connection_reset", "socket_error", "malformed_response",
    "unanswered",       "not_connected",    "no_local_port"};

// All cumulative. After the drain sent == completed + failed + refused + lost; the latency, from
// send (open loop: scheduled arrival) to response, holds the completed ones only.
struct ClassReport {
  std::string name;
  std::uint64_t sent = 0;
  std::uint64_t completed = 0;    // answered with status ok
  std::uint64_t failed = 0;       // answered with another status
  std::uint64_t refused = 0;      // answered that too many wait: nothing of it was run
  std::uint64_t lost = 0;         // never answered: the connection ended or the drain timed out
  std::uint64_t undelivered = 0;  // of these, what the server's system never had
  HistogramCounts latency_us;
};

struct Report {
  double time_s = 0.0;           // CLOCK_MONOTONIC
  std::uint64_t unexpected = 0;  // responses whose id nobody waits for
  std::uint64_t backlog = 0;     // arrivals that wait for a connection now
  std::uint64_t dropped = 0;     // arrivals refused because the backlog was full
  std::uint64_t unsent = 0;      // arrivals that still waited for a connection when the stop came
  std::uint64_t connections = 0;
  double process_cpu_s = 0.0;
  // From when a request was due to when the loop turned to it: requests of an open loop, and those
  // after a pause. One that follows an answer at once is due when the loop sees the answer.
  HistogramCounts send_delay_us;
  LoopTimes loop;
  std::map<std::string, std::uint64_t> errors;  // those that happened, by name of the fault
  std::vector<ClassReport> classes;
};

// A number written by one thread. Release and acquire, so that who reads answers first never sees
// fewer requests sent than answered.
class Counter {
 public:
  void set(std::uint64_t value) { value_.store(value, std::memory_order_release); }
  void add_one() { set(value_.load(std::memory_order_relaxed) + 1); }
  std::uint64_t get() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct ClassTally {
  Counter sent;
  Counter completed;
  Counter failed;
  Counter refused;
  Counter lost;
  Counter undelivered;
  Histogram latency_us;
};

struct Tally {
  explicit Tally(std::size_t classes) : by_class(classes) {}

  Counter unexpected;
  Counter backlog;
  Counter dropped;
  Counter unsent;
  Counter connections;
  Histogram send_delay_us;
  std::array<Counter, kFaultNames.size()> faults;
  std::vector<ClassTally> by_class;
};

// A copy of the tally at this instant; `class_names` in the order of its classes.
Report report_of(const Tally& tally, const std::vector<std::string>& class_names);

}  // namespace poolpilot::load
