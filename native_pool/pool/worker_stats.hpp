// What worker threads count, and how long things took them.
//
// A thread has its counters and a short buffer of timings to itself; histograms are shared by many
// threads and guarded by a mutex. The thread hands its timings in when the buffer is full, a
// snapshot reads what stands in it meanwhile. So noting a timing is two stores, a living thread
// costs a snapshot a few dozen timings instead of histograms, and an idle one almost nothing.
//
// Only the thread fills the buffer and only it empties it, under the mutex. Who holds the mutex may
// therefore read the entries before `size_`: they were written before it (release, acquire) and are
// not written again before a flush, which needs the mutex.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "pool/active_time.hpp"
#include "pool/histogram.hpp"
#include "queues/step.hpp"

namespace poolpilot {

// A monotonic counter with one writer. Relaxed: a snapshot is a sum over threads that run on, so no
// order between counters could be promised anyway; each is exact once its thread is idle.
class Counter {
 public:
  Counter() = default;
  Counter(const Counter& other) : value_(other.value()) {}
  Counter& operator=(const Counter& other) {
    value_.store(other.value(), std::memory_order_relaxed);
    return *this;
  }
  void add(std::int64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct WorkerCounters {
  Counter completed;
  Counter failed;
  Counter misplaced;  // queued as of another class than they were
  Counter latch_waits;
  Counter sampled_requests;
  Counter voluntary_switches;
  Counter involuntary_switches;
  std::array<Counter, kWaitKinds> waits;

  void add(const WorkerCounters& other) {
    completed.add(other.completed.value());
    failed.add(other.failed.value());
    misplaced.add(other.misplaced.value());
    latch_waits.add(other.latch_waits.value());
    sampled_requests.add(other.sampled_requests.value());
    voluntary_switches.add(other.voluntary_switches.value());
    involuntary_switches.add(other.involuntary_switches.value());
    for (std::size_t i = 0; i < kWaitKinds; ++i) waits[i].add(other.waits[i].value());
  }
};

// What is measured, in microseconds but for kActiveRounds, which are counted.
enum class Timing : std::uint8_t {
  kQueueWait,
  kActiveRound,
  kWaitRound,
  kThink,
  kLatchWait,
  kRoundCpu,
  kRunDelay,
  kActiveRounds,
  kAdmissionWait,  // of those that had to
  kLatency,        // of the first class; those of the others follow
};
inline constexpr std::size_t kTimings = static_cast<std::size_t>(Timing::kLatency);

constexpr Timing latency_of(std::size_t class_id) {
  return static_cast<Timing>(kTimings + class_id);
}

// A histogram for every timing.
class TimingSums {
 public:
  explicit TimingSums(std::size_t classes) : histograms_(kTimings + classes) {}

  void record(Timing timing, std::uint64_t value) {
    // A client may name a class that this server gives no name.
    if (index(timing) < histograms_.size()) histograms_[index(timing)].record(value);
  }

  // `counts` has one for every timing, or is empty and gets them.
  void add_to(std::vector<HistogramCounts>& counts) const {
    counts.resize(histograms_.size());
    for (std::size_t i = 0; i < histograms_.size(); ++i) histograms_[i].add_to(counts[i]);
  }

 private:
  static std::size_t index(Timing timing) { return static_cast<std::size_t>(timing); }

  std::vector<Histogram> histograms_;
};

// Of one thread.
class WorkerStats {
 public:
  // `mutex` guards `sums`.
  WorkerStats(std::mutex& mutex, TimingSums& sums) : mutex_(mutex), sums_(sums) {}

  WorkerCounters counters;
  ActiveTime active;  // where no thread group counts it

  void record(Timing timing, std::uint64_t value) {
    std::size_t size = size_.load(std::memory_order_relaxed);
    if (size == entries_.size()) {
      const std::lock_guard lock(mutex_);
      hand_in();
      size = 0;
    }
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();  // over an hour
    entries_[size] = {static_cast<std::uint32_t>(std::min(value, kMost)), timing};
    size_.store(size + 1, std::memory_order_release);
  }

  // Empties the buffer; for its own thread, under the mutex.
  void hand_in() {
    for (const Entry& entry : entries()) sums_.record(entry.timing, entry.value);
    size_.store(0, std::memory_order_relaxed);
  }

  // Adds what has not been handed in yet to `counts`, which have been added up already; under the
  // mutex.
  void add_rest_to(std::vector<HistogramCounts>& counts) const {
    for (const Entry& entry : entries()) {
      const auto index = static_cast<std::size_t>(entry.timing);
      if (index < counts.size()) counts[index].record(entry.value);
    }
  }

 private:
  struct Entry {
    std::uint32_t value;
    Timing timing;
  };

  std::span<const Entry> entries() const {
    return std::span(entries_).first(size_.load(std::memory_order_acquire));
  }

  std::mutex& mutex_;
  TimingSums& sums_;
  std::array<Entry, 24> entries_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace poolpilot
