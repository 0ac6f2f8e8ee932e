// Rules that need no weights.
#pragma once

#include <cstddef>

#include "queues/dequeue_rule.hpp"

namespace poolpilot {

// Alternating priority (Groenevelt and Altman, "Analysis of Alternating-Priority Queueing Models"):
// the queue served last, for as long as it has something.
class LastServed final : public DequeueRule {
 public:
  std::size_t choose(QueueViews) override { return last_; }
  void take(QueueViews, std::size_t queue, double) override { last_ = queue; }
  void take_again(QueueViews, std::size_t queue, double) override { last_ = queue; }

 private:
  std::size_t last_ = 0;
};

// The Israeli queue of Perel and Yechiali ("The Israeli Queue with Priorities"), without its
// batches: the queue whose head has waited longest.
class LongestWait final : public DequeueRule {
 public:
  std::size_t choose(QueueViews queues) override {
    std::size_t best = first_non_empty(queues);
    for (std::size_t i = best + 1; i < queues.size(); ++i) {
      if (queues[i].length == 0) continue;
      if (queues[i].head_since_us < queues[best].head_since_us) best = i;
    }
    return best;
  }
};

}  // namespace poolpilot
