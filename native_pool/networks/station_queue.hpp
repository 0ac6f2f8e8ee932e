// Who waits at a station of a queueing network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "networks/network_spec.hpp"
#include "queues/request_queues.hpp"
#include "queues/ring.hpp"
#include "sim/event_heap.hpp"

namespace poolpilot::sim {

// The disciplines are those of the pool's queues. One queue in order of arrival, which most
// stations have, needs no more than a ring.
class StationQueue {
 public:
  using Taken = RequestQueues<std::uint32_t>::Taken;

  // `stream` tells the draws of one station from those of another.
  StationQueue(const QueueSettings& settings, std::uint64_t stream) {
    if (settings == one_queue()) return;
    disciplined_ = std::make_unique<RequestQueues<std::uint32_t>>(settings, stream);
  }

  bool empty() const { return disciplined_ ? disciplined_->empty() : line_.empty(); }

  void put(std::uint32_t customer, std::uint32_t class_id, TimeNs now_ns) {
    if (!disciplined_) return line_.push_back(customer);
    const RequestKey key{.class_id = static_cast<int>(class_id)};
    disciplined_->put(customer, key, now_ns / kNsPerUs);
  }

  // Who is served next. Undefined while nobody waits.
  Taken take(TimeNs now_ns) {
    if (disciplined_) {
      disciplined_->age(now_ns / kNsPerUs);
      return disciplined_->take();
    }
    const std::uint32_t customer = line_.front();
    line_.pop_front();
    return {customer, 0, 0.0};
  }

  // What was taken has been served for so long.
  void serve(const Taken& taken, TimeNs served_ns) {
    if (!disciplined_) return;
    disciplined_->serve(taken, static_cast<double>(served_ns) / static_cast<double>(kNsPerUs));
  }

 private:
  static constexpr TimeNs kNsPerUs = 1'000;

  Ring<std::uint32_t> line_;
  std::unique_ptr<RequestQueues<std::uint32_t>> disciplined_;
};

}  // namespace poolpilot::sim
