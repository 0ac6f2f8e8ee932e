// Threads in order of a key; of equal keys the one pushed first comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace poolpilot::sim {

class ThreadHeap {
 public:
  bool empty() const { return entries_.empty(); }

  // The least key. Undefined on an empty heap.
  double least() const { return entries_.front().key; }

  void push(double key, std::uint32_t thread) {
    entries_.push_back({key, order_++, thread});
    std::push_heap(entries_.begin(), entries_.end(), later);
  }

  // Undefined on an empty heap.
  std::uint32_t pop() {
    const std::uint32_t thread = entries_.front().thread;
    std::pop_heap(entries_.begin(), entries_.end(), later);
    entries_.pop_back();
    return thread;
  }

  // Linear in the threads; false when it is not among them.
  bool remove(std::uint32_t thread) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [thread](const Entry& entry) {
      return entry.thread == thread;
    });
    if (found == entries_.end()) return false;
    entries_.erase(found);
    std::make_heap(entries_.begin(), entries_.end(), later);
    return true;
  }

 private:
  struct Entry {
    double key;
    std::uint32_t order;  // wraps; compared by distance
    std::uint32_t thread;
  };

  static bool later(const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key > b.key;
    return static_cast<std::int32_t>(a.order - b.order) > 0;
  }

  std::vector<Entry> entries_;
  std::uint32_t order_ = 0;
};

}  // namespace poolpilot::sim
