#include "queues/disciplines/round_robin.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {
namespace {

constexpr double kRounding = 1e-9;  // of a credit that many small quanta have added up to

bool competes(const QueueView& queue) { return queue.length > 0 && queue.weight > 0.0; }

}  // namespace

std::size_t RoundRobin::choose(QueueViews queues) {
  if (std::ranges::none_of(queues, competes)) return 0;
  const auto covers = [&](std::size_t queue) {
    return competes(queues[queue]) && credit_[queue] + kRounding >= cost(queues, queue);
  };
  if (turn_ < queues.size() && covers(turn_)) return turn_;
  while (true) {
    for (std::size_t i = 0; i < queues.size(); ++i) {
      turn_ = turn_ + 1 < queues.size() ? turn_ + 1 : 0;
      begin_turn(queues, turn_);
      if (covers(turn_)) return turn_;
    }
    skip_rounds(queues);
  }
}

// A debt is kept even by an empty queue: it is time that its requests have had already.
void RoundRobin::begin_turn(QueueViews queues, std::size_t queue) {
  double& credit = credit_[queue];
  if (queues[queue].length == 0) credit = std::min(credit, 0.0);
  if (competes(queues[queue]) || credit < 0.0) credit += quantum(queues, queue);
}

// Rounds in which no queue could be served, so that a long request costs no long search.
void RoundRobin::skip_rounds(QueueViews queues) {
  double rounds = INFINITY;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (!competes(queues[i])) continue;
    rounds = std::min(rounds, (cost(queues, i) - credit_[i]) / quantum(queues, i));
  }
  rounds = std::floor(rounds);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (competes(queues[i])) credit_[i] += rounds * quantum(queues, i);
  }
}

double WeightedRoundRobin::quantum(QueueViews queues, std::size_t queue) const {
  double smallest = 1.0;
  for (const QueueView& one : queues) {
    if (one.weight > 0.0) smallest = std::min(smallest, one.weight);
  }
  return queues[queue].weight / smallest;
}

}  // namespace poolpilot
