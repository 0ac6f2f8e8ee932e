// What queues are kept in that do not serve in the order of arrival.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "queues/container.hpp"

namespace poolpilot {

template <typename Item>
class LifoContainer {
 public:
  using Request = QueuedRequest<Item>;

  void push(const Request& request) { stack_.push_back(request); }
  const Request& front() const { return stack_.back(); }
  void pop() { stack_.pop_back(); }
  std::size_t size() const { return stack_.size(); }

 private:
  std::vector<Request> stack_;
};

// Dynamic priority (Jaiswal, "Priority Queues"): a newcomer of urgency u goes before a request j
// that has waited for w_j if u_j - u >= w_j. With arrivals a this is a_j + u_j >= a + u, so
// requests stand in the order of arrival + urgency, and of two alike the newer goes first.
template <typename Item>
class UrgencyContainer {
 public:
  using Request = QueuedRequest<Item>;

  void push(const Request& request) {
    heap_.push_back({request, ++pushed_});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  const Request& front() const { return heap_.front().request; }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  std::size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    Request request;
    std::uint64_t number;
  };

  static bool later(const Entry& one, const Entry& other) {
    if (one.request.due_us != other.request.due_us) {
      return one.request.due_us > other.request.due_us;
    }
    return one.number < other.number;
  }

  std::vector<Entry> heap_;
  std::uint64_t pushed_ = 0;
};

}  // namespace poolpilot
