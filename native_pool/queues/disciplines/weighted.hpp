// Weighted priorities: the weight of a queue is the probability that it is served next.
//
// The draw is among all queues, and the rule for the next queue decides where the drawn one is
// empty. A queue of weight 0 is never drawn: it is served only while every queue that has a weight
// is empty, whatever that rule says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "queues/dequeue_rule.hpp"
#include "system/random.hpp"

namespace poolpilot {

class WeightedDraw final : public DequeueRule {
 public:
  WeightedDraw(std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) {}

  std::size_t choose(QueueViews queues) override {
    double drawn = random_.uniform();
    std::size_t last = 0;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].weight <= 0.0) continue;
      last = i;
      if (drawn < queues[i].weight) break;
      drawn -= queues[i].weight;
    }
    return last;
  }

 private:
  Random random_;
};

}  // namespace poolpilot
