// Future events in order of time, and threads in order of what they have done.
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

// Entries in order of a key; of equal keys the one pushed first comes first. Four children a node:
// half the levels of a binary heap, and the children share a cache line. Its memory is kept, so
// that a simulation in steady state allocates nothing.
template <typename Key>
class OrderedHeap {
 public:
  struct Entry {
    Key key;
    std::uint32_t order;  // wraps; compared by distance, right while fewer than 2^31 are pending
    std::uint32_t what;   // means something to the model alone
  };

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  // Undefined on an empty heap, as are the next two.
  const Entry& front() const { return entries_.front(); }
  Entry pop() {
    const Entry first = entries_.front();
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) sink(0, last);
    return first;
  }
  // As pop() and push(), in one go down the heap.
  void replace_front(Key key, std::uint32_t what) { sink(0, {key, order_++, what}); }

  void push(Key key, std::uint32_t what) {
    const Entry entry{key, order_++, what};
    std::size_t place = entries_.size();
    entries_.push_back(entry);
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!before(entry, entries_[parent])) break;
      entries_[place] = entries_[parent];
      place = parent;
    }
    entries_[place] = entry;
  }

  // Linear in the entries; false when it is not among them.
  bool remove(std::uint32_t what) {
    const auto found = std::ranges::find(entries_, what, &Entry::what);
    if (found == entries_.end()) return false;
    *found = entries_.back();
    entries_.pop_back();
    for (std::size_t place = entries_.size(); place-- > 0;) sink(place, entries_[place]);
    return true;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  static bool before(const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    return static_cast<std::int32_t>(a.order - b.order) < 0;
  }

  // Finds the place of `entry` from `place` downwards.
  void sink(std::size_t place, Entry entry) {
    const std::size_t size = entries_.size();
    while (true) {
      const std::size_t first = place * kChildren + 1;
      if (first >= size) break;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(entries_[child], entries_[least])) least = child;
      }
      if (!before(entries_[least], entry)) break;
      entries_[place] = entries_[least];
      place = least;
    }
    entries_[place] = entry;
  }

  std::vector<Entry> entries_;
  std::uint32_t order_ = 0;
};

using ThreadHeap = OrderedHeap<double>;

class EventHeap : public OrderedHeap<TimeNs> {
 public:
  TimeNs next_ns() const { return empty() ? kNever : front().key; }
};

}  // namespace poolpilot::sim
