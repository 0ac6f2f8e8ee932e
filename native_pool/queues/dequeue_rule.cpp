#include "queues/dequeue_rule.hpp"

#include <algorithm>

#include "queues/disciplines/fair.hpp"
#include "queues/disciplines/round_robin.hpp"
#include "queues/disciplines/simple.hpp"
#include "queues/disciplines/weighted.hpp"

namespace poolpilot {
namespace {

// MariaDB's: a low queue waits for as long as a higher one has something.
class FirstNonEmpty final : public DequeueRule {
 public:
  std::size_t choose(QueueViews queues) override { return first_non_empty(queues); }
};

}  // namespace

std::unique_ptr<DequeueRule> dequeue_rule(const QueueSettings& settings, std::uint64_t stream) {
  switch (settings.dequeue) {
    case Dequeue::kWeighted:
      return std::make_unique<WeightedDraw>(static_cast<std::uint64_t>(settings.queue_seed),
                                            stream);
    case Dequeue::kFair:
      return std::make_unique<FairShares>(settings.share_of);
    case Dequeue::kLowLatency:
      return std::make_unique<LowLatencyFirst>(settings.share_of);
    case Dequeue::kAlternating:
      return std::make_unique<LastServed>();
    case Dequeue::kWeightedRoundRobin:
      return std::make_unique<WeightedRoundRobin>();
    case Dequeue::kDeficitRoundRobin:
      return std::make_unique<DeficitRoundRobin>(settings.round_ms * 1e3);
    case Dequeue::kLongestWait:
      return std::make_unique<LongestWait>();
    default:
      return std::make_unique<FirstNonEmpty>();
  }
}

std::size_t first_non_empty(QueueViews queues) {
  std::size_t first = queues.size();
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (queues[i].length == 0) continue;
    if (queues[i].weight > 0.0) return i;
    first = std::min(first, i);
  }
  return first;
}

std::size_t greatest_weight(QueueViews queues) {
  std::size_t best = first_non_empty(queues);
  for (std::size_t i = best + 1; i < queues.size(); ++i) {
    if (queues[i].length > 0 && queues[i].weight > queues[best].weight) best = i;
  }
  return best;
}

}  // namespace poolpilot
