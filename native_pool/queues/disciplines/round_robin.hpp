// Weighted round robin, and deficit round robin (Shreedhar and Varghese, "Efficient Fair Queueing
// using Deficit Round Robin").
//
// Queues take turns. At the beginning of its turn a queue's credit grows by its quantum, and it is
// served while the credit covers a request; what is left is kept for its next turn, and lost once
// the queue is empty. The weighted kind counts requests, the quantum of the smallest weight being
// one. The deficit kind counts time of workers, as a round deals out `round_us` by weight; the
// length of a request is not known before it has been served, so its queue's mean counts until then
// and the difference is made up for. A queue of weight 0 is served only while all others are empty.
#pragma once

#include <array>
#include <cstddef>

#include "queues/dequeue_rule.hpp"

namespace poolpilot {

class RoundRobin : public DequeueRule {
 public:
  std::size_t choose(QueueViews queues) override;

 protected:
  virtual double quantum(QueueViews queues, std::size_t queue) const = 0;
  virtual double cost(QueueViews queues, std::size_t queue) const = 0;
  void charge(std::size_t queue, double cost) { credit_[queue] -= cost; }

 private:
  void begin_turn(QueueViews queues, std::size_t queue);
  void skip_rounds(QueueViews queues);

  std::array<double, kMaxQueues> credit_{};
  std::size_t turn_ = kMaxQueues;  // the queue whose turn it is; before the first: none
};

class WeightedRoundRobin final : public RoundRobin {
 public:
  void take(QueueViews, std::size_t queue, double) override { charge(queue, 1.0); }

 private:
  double quantum(QueueViews queues, std::size_t queue) const override;
  double cost(QueueViews, std::size_t) const override { return 1.0; }
};

class DeficitRoundRobin final : public RoundRobin {
 public:
  explicit DeficitRoundRobin(double round_us) : round_us_(round_us) {}

  void take(QueueViews, std::size_t queue, double expected_us) override {
    charge(queue, expected_us);
  }
  void take_again(QueueViews queues, std::size_t queue, double expected_us) override {
    take(queues, queue, expected_us);
  }
  void correct(QueueViews, std::size_t queue, double longer_us) override {
    charge(queue, longer_us);
  }
  bool counts_time() const override { return true; }

 private:
  double quantum(QueueViews queues, std::size_t queue) const override {
    return queues[queue].weight * round_us_;
  }
  double cost(QueueViews queues, std::size_t queue) const override { return queues[queue].mean_us; }

  const double round_us_;
};

}  // namespace poolpilot
