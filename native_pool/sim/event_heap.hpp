// Future events in order of time; of equal times the one scheduled first comes first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace poolpilot::sim {

using TimeNs = std::int64_t;
inline constexpr TimeNs kNever = INT64_MAX;
// The last moment at which something may happen, and the longest time that may then be added: both
// together, and an hour of rounding, are still before kNever.
inline constexpr TimeNs kLastNs = TimeNs{1} << 62;
inline constexpr double kLongestSpanNs = 4e18;
inline constexpr const char* kClockEndsText = "the clock ends after 146 years";
inline constexpr std::uint32_t kNobody = UINT32_MAX;  // no thread, no connection, no processor

// As the histograms count: what the blur of times makes negative is nothing.
inline std::uint64_t whole_us(double ns) {
  return ns > 0.0 ? static_cast<std::uint64_t>(ns / 1e3) : 0;
}

// What is longer than any simulation lasts is as long as the clock can bear.
inline TimeNs whole_ns(double ns) {
  return static_cast<TimeNs>(std::llround(std::min(ns, kLongestSpanNs)));
}

// A heap of four children a node: half the levels of a binary one, and the children share a cache
// line. Its memory is kept, so that a simulation in steady state allocates nothing.
class EventHeap {
 public:
  struct Event {
    TimeNs at_ns;
    std::uint32_t order;  // wraps; compared by distance, right while fewer than 2^31 are pending
    std::uint32_t what;   // means something to the model alone
  };

  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const Event& front() const { return events_.front(); }
  TimeNs next_ns() const { return events_.empty() ? kNever : events_.front().at_ns; }

  void push(TimeNs at_ns, std::uint32_t what) {
    const Event event{at_ns, order_++, what};
    std::size_t place = events_.size();
    events_.push_back(event);
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!before(event, events_[parent])) break;
      events_[place] = events_[parent];
      place = parent;
    }
    events_[place] = event;
  }

  // Undefined on an empty heap.
  Event pop() {
    const Event first = events_.front();
    const Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) sink(last);
    return first;
  }

  // As pop() and push(), in one go down the heap. Undefined on an empty heap.
  void replace_front(TimeNs at_ns, std::uint32_t what) { sink({at_ns, order_++, what}); }

  void clear() { events_.clear(); }

 private:
  static constexpr std::size_t kChildren = 4;

  static bool before(const Event& a, const Event& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    return static_cast<std::int32_t>(a.order - b.order) < 0;
  }

  // Finds the place of `event` from the root downwards.
  void sink(const Event& event) {
    const std::size_t size = events_.size();
    std::size_t place = 0;
    while (true) {
      const std::size_t first = place * kChildren + 1;
      if (first >= size) break;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(events_[child], events_[least])) least = child;
      }
      if (!before(events_[least], event)) break;
      events_[place] = events_[least];
      place = least;
    }
    events_[place] = event;
  }

  std::vector<Event> events_;
  std::uint32_t order_ = 0;
};

}  // namespace poolpilot::sim
