// Which of a group's queues is served next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "queues/queue_settings.hpp"

namespace poolpilot {

// What a rule sees of a queue.
struct QueueView {
  std::size_t length = 0;
  std::int64_t head_since_us = 0;  // arrival of the request that would be taken; of an empty queue
                                   // it means nothing
  double weight = 0.0;             // 0 of every queue where the discipline has no weights
  double mean_us = 0.0;  // time that a request of the queue occupies a worker, 0 before the first
};

using QueueViews = std::span<const QueueView>;

// A rule is asked only while some queue is not empty, by one thread at a time.
class DequeueRule {
 public:
  virtual ~DequeueRule() = default;

  // It may name an empty queue: the rule for the next queue then decides.
  virtual std::size_t choose(QueueViews queues) = 0;

  // A request has been taken from the queue, whoever chose it; it counts for `expected_us` until
  // it is served. The view still counts it.
  virtual void take(QueueViews queues, std::size_t queue, double expected_us) {
    (void)queues, (void)queue, (void)expected_us;
  }

  // One that has been taken from the queue before is taken once more, from wherever it was kept: it
  // counts already, but not the time that is expected of it now.
  virtual void take_again(QueueViews queues, std::size_t queue, double expected_us) {
    (void)queues, (void)queue, (void)expected_us;
  }

  // It has been served and has taken longer by so much.
  virtual void correct(QueueViews queues, std::size_t queue, double longer_us) {
    (void)queues, (void)queue, (void)longer_us;
  }

  // Whether correct() is of use: the clock need not be read otherwise.
  virtual bool counts_time() const { return false; }
};

std::unique_ptr<DequeueRule> dequeue_rule(const QueueSettings& settings, std::uint64_t stream);

// The non-empty queue of highest priority, and the one of greatest weight. One without a weight
// comes after all that have one.
std::size_t first_non_empty(QueueViews queues);
std::size_t greatest_weight(QueueViews queues);

}  // namespace poolpilot
