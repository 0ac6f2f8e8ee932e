// What a queue can be kept in. A container of requests has push, front, pop and size; its front is
// what pop takes off, and both are undefined while it is empty.
#pragma once

#include <cstddef>
#include <cstdint>

#include "queues/ring.hpp"

namespace poolpilot {

inline constexpr std::size_t kNoQueue = SIZE_MAX;

template <typename Item>
struct QueuedRequest {
  Item item;
  std::int64_t arrived_us;  // in the group
  std::int64_t since_us;    // in this queue
  std::int64_t due_us;      // arrival and urgency
  std::size_t taken_from;   // once before, or kNoQueue
};

template <typename Item>
class FifoContainer {
 public:
  using Request = QueuedRequest<Item>;

  void push(const Request& request) { ring_.push_back(request); }
  const Request& front() const { return ring_.front(); }
  void pop() { ring_.pop_front(); }
  std::size_t size() const { return ring_.size(); }

 private:
  Ring<Request> ring_;
};

}  // namespace poolpilot
