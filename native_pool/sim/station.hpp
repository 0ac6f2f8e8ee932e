// A place with a number of channels and one queue in order of arrival: a disk, or the log.
#pragma once

#include <cstdint>

#include "queues/ring.hpp"

namespace poolpilot::sim {

class Station {
 public:
  explicit Station(int channels = 1) : idle_(channels) {}

  // True when `customer` is served at once; else it queues.
  bool enter(std::uint32_t customer) {
    if (idle_ == 0) {
      waiting_.push_back(customer);
      return false;
    }
    --idle_;
    return true;
  }

  // A channel is done. True when it goes on with the `next` customer.
  bool leave(std::uint32_t& next) {
    if (waiting_.empty()) {
      ++idle_;
      return false;
    }
    next = waiting_.front();
    waiting_.pop_front();
    return true;
  }

 private:
  int idle_;
  Ring<std::uint32_t> waiting_;
};

}  // namespace poolpilot::sim
