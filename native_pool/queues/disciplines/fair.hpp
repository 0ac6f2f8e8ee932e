// Class-based weighted fair queueing, by the start tags of Goyal, Vin and Cheng ("Start-time Fair
// Queueing: A Scheduling Algorithm for Integrated Services Packet Switching Networks").
//
// Virtual time is the start tag of the last request taken. A queue's next request starts where its
// last one ended, in virtual time, but not in the past: a queue that was empty saves nothing up.
// The queue with the earliest start is served, so queues that always have something get their
// shares, and nobody waits for longer than one request of every other. A queue of weight 0 is
// served only while all others are empty.
//
// A request counts 1, or the time that it occupies a worker. That time is known only afterwards:
// its queue's mean counts until then, and the difference is made up for.
#pragma once

#include <array>
#include <cstddef>

#include "queues/dequeue_rule.hpp"

namespace poolpilot {

class FairShares : public DequeueRule {
 public:
  explicit FairShares(ShareOf share_of) : by_time_(share_of == ShareOf::kTime) {}

  std::size_t choose(QueueViews queues) override { return earliest(queues, 0); }
  void take(QueueViews queues, std::size_t queue, double expected_us) override;
  void take_again(QueueViews queues, std::size_t queue, double expected_us) override;
  void correct(QueueViews queues, std::size_t queue, double longer_us) override;
  bool counts_time() const override { return by_time_; }

 protected:
  // Among the queues from `first` on; where they are empty or without weight, `first`.
  std::size_t earliest(QueueViews queues, std::size_t first) const;

 private:
  double start_of(std::size_t queue) const;

  const bool by_time_;
  double now_ = 0.0;
  std::array<double, kMaxQueues> end_{};  // of the last request taken, by queue
};

// The first queue before all others, which share what it leaves.
class LowLatencyFirst final : public FairShares {
 public:
  using FairShares::FairShares;

  std::size_t choose(QueueViews queues) override {
    return queues.size() == 1 || queues[0].length > 0 ? 0 : earliest(queues, 1);
  }
  void take(QueueViews queues, std::size_t queue, double expected_us) override {
    if (queue > 0) FairShares::take(queues, queue, expected_us);
  }
  void take_again(QueueViews queues, std::size_t queue, double expected_us) override {
    if (queue > 0) FairShares::take_again(queues, queue, expected_us);
  }
  void correct(QueueViews queues, std::size_t queue, double longer_us) override {
    if (queue > 0) FairShares::correct(queues, queue, longer_us);
  }
};

}  // namespace poolpilot
