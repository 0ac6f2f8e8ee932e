#include "queues/disciplines/fair.hpp"

#include <algorithm>

namespace poolpilot {

double FairShares::start_of(std::size_t queue) const { return std::max(now_, end_[queue]); }

std::size_t FairShares::earliest(QueueViews queues, std::size_t first) const {
  std::size_t best = first;
  bool found = false;
  for (std::size_t i = first; i < queues.size(); ++i) {
    if (queues[i].length == 0 || queues[i].weight <= 0.0) continue;
    if (found && start_of(i) >= start_of(best)) continue;
    best = i;
    found = true;
  }
  return best;
}

void FairShares::take(QueueViews queues, std::size_t queue, double expected_us) {
  const double weight = queues[queue].weight;
  if (weight <= 0.0) return;
  now_ = start_of(queue);
  end_[queue] = now_ + (by_time_ ? expected_us : 1.0) / weight;
}

// The virtual time stays: it was not this queue's turn, whose own may be far ahead of the others.
void FairShares::take_again(QueueViews queues, std::size_t queue, double expected_us) {
  const double weight = queues[queue].weight;
  if (by_time_ && weight > 0.0) end_[queue] = start_of(queue) + expected_us / weight;
}

void FairShares::correct(QueueViews queues, std::size_t queue, double longer_us) {
  const double weight = queues[queue].weight;
  if (by_time_ && weight > 0.0) end_[queue] += longer_us / weight;
}

}  // namespace poolpilot
