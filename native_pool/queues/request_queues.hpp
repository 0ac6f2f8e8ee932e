// The queues of a thread group: requests go in by their class, and come out by the discipline.
//
// It asks the classifier where a request goes, keeps it in that queue's container, and has the
// dequeue rule choose the queue that is served next; the rule for the next queue chooses where that
// one is empty. age() lifts requests whose time in a queue is over to the queue before it.
//
// Times are of one clock, of which the caller says how exact it is: MariaDB's two levels go by that
// of the last tick, all other disciplines by the time itself.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "queues/classifier.hpp"
#include "queues/container.hpp"
#include "queues/dequeue_rule.hpp"
#include "queues/disciplines/containers.hpp"
#include "queues/queue_settings.hpp"

namespace poolpilot {

template <typename Item>
class RequestQueues {
 public:
  struct Taken {
    Item item;
    std::size_t queue;
    double expected_us;
  };

  // `stream` tells the draws of one group from those of another. Settings must have been checked.
  RequestQueues(const QueueSettings& settings, std::uint64_t stream)
      : settings_(resolved(settings)),
        classifier_(settings_),
        rule_(dequeue_rule(settings_, stream)),
        next_queue_(settings_.next_queue == NextQueue::kGreatestWeight ? &greatest_weight
                                                                       : &first_non_empty) {
    const std::size_t count = merged() ? 1 : settings_.queues.size();
    containers_.resize(count, empty_container());
    views_.resize(count);
    set_weights({});
    has_deadlines_ = std::ranges::any_of(
        settings_.queues, [](const QueueSpec& spec) { return spec.deadline_ms != 0.0; });
  }

  void put(Item item, const RequestKey& key, std::int64_t now_us) {
    put(classifier_.queue_of(key), std::move(item), now_us);
  }

  // The next request of whoever sends it; what a look at it has shown is its `peeked_class`.
  void put(Item item, Sender& sender, int peeked_class, std::int64_t now_us) {
    const RequestKey key = sender.key(settings_.class_known, peeked_class);
    if (classifier_.by_class()) sender.queued_as = key.class_id;
    put(std::move(item), key, now_us);
  }

  // For what is no request: a login, or a connection that is to end.
  void put_urgent(Item item, std::int64_t now_us) { put(urgent_queue_, std::move(item), now_us); }
  // For a request that was taken from `queue` and has waited elsewhere since: it is as urgent, but
  // what it takes is that queue's, or those of others would pay for it.
  void put_again(Item item, std::size_t queue, std::int64_t now_us) {
    put(urgent_queue_, std::move(item), now_us, queue);
  }

  // Undefined while they are empty. The queue is the one that the request counts for.
  Taken take() {
    assert(!empty());
    std::size_t queue = rule_->choose(views_);
    if (views_[queue].length == 0) queue = next_queue_(views_);
    const Taken taken = count(front(queue), queue);
    pop(queue);
    --size_;
    return taken;
  }

  // What was taken has occupied a worker for so long.
  void serve(const Taken& taken, double served_us) {
    double& mean_us = views_[taken.queue].mean_us;
    mean_us += (served_us - mean_us) * (mean_us == 0.0 ? 1.0 : kMeanStep);
    rule_->correct(views_, taken.queue, served_us - taken.expected_us);
  }
  // Whether serve() is of any use.
  bool counts_time() const { return rule_->counts_time(); }

  // Lifts what has been in its queue for longer than the queue's deadline.
  void age(std::int64_t now_us) {
    for (std::size_t queue = 1; queue < views_.size(); ++queue) {
      double deadline_ms = settings_.queues[queue].deadline_ms;
      if (deadline_ms == 0.0) continue;
      if (deadline_ms == kKickUpDeadline) deadline_ms = kick_up_ms_;
      const auto deadline_us = static_cast<std::int64_t>(deadline_ms * 1e3);
      while (views_[queue].length > 0 && now_us - front(queue).since_us > deadline_us) {
        QueuedRequest<Item> request = front(queue);
        pop(queue);
        request.since_us = now_us;
        push(queue - 1, request);
      }
    }
  }

  // Whether the clock of the last tick is theirs, and age() of use at ticks only.
  bool by_ticks() const { return settings_.discipline == Discipline::kMariaDb; }
  // Whether age() is of use before every take().
  bool ages_between_ticks() const { return !by_ticks() && has_deadlines_; }

  // prio_kickup_ms: the deadline of queues that leave theirs to it.
  void set_kick_up_ms(double kick_up_ms) { kick_up_ms_ = kick_up_ms; }

  // As many as there are queues, checked by check_weights(); none: those of the settings.
  void set_weights(std::span<const double> weights) {
    if (!uses_weights(settings_)) return;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      views_[i].weight = weights.empty() ? settings_.queues[i].weight : weights[i];
    }
    urgent_queue_ = 0;
    for (std::size_t i = 1; i < views_.size(); ++i) {
      if (views_[i].weight > views_[urgent_queue_].weight) urgent_queue_ = i;
    }
  }

  ClassKnown class_known() const { return settings_.class_known; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Requests that no rule has fitted.
  std::int64_t unmapped() const { return classifier_.unmapped(); }

 private:
  using Container = std::variant<FifoContainer<Item>, LifoContainer<Item>, UrgencyContainer<Item>>;

  static constexpr double kMeanStep = 1.0 / 16.0;

  bool merged() const { return settings_.enqueue == Enqueue::kMerged; }

  Container empty_container() const {
    switch (settings_.container) {
      case poolpilot::Container::kLifo:
        return LifoContainer<Item>();
      case poolpilot::Container::kUrgency:
        return UrgencyContainer<Item>();
      default:
        return FifoContainer<Item>();
    }
  }

  void put(std::size_t queue, Item item, std::int64_t now_us, std::size_t taken_from = kNoQueue) {
    const auto urgency_us = static_cast<std::int64_t>(settings_.queues[queue].urgency_ms * 1e3);
    push(merged() ? 0 : queue, {std::move(item), now_us, now_us, now_us + urgency_us, taken_from});
    ++size_;
  }

  Taken count(const QueuedRequest<Item>& request, std::size_t queue) {
    const bool again = request.taken_from != kNoQueue;
    const std::size_t of = again ? request.taken_from : queue;
    const double expected_us = views_[of].mean_us;
    if (again) {
      rule_->take_again(views_, of, expected_us);
    } else {
      rule_->take(views_, of, expected_us);
    }
    return {request.item, of, expected_us};
  }

  const QueuedRequest<Item>& front(std::size_t queue) const {
    return std::visit(
        [](const auto& container) -> const QueuedRequest<Item>& { return container.front(); },
        containers_[queue]);
  }

  void push(std::size_t queue, const QueuedRequest<Item>& request) {
    std::visit([&](auto& container) { container.push(request); }, containers_[queue]);
    ++views_[queue].length;
    views_[queue].head_since_us = front(queue).arrived_us;
  }

  void pop(std::size_t queue) {
    std::visit([](auto& container) { container.pop(); }, containers_[queue]);
    if (--views_[queue].length > 0) views_[queue].head_since_us = front(queue).arrived_us;
  }

  QueueSettings settings_;
  Classifier classifier_;
  std::unique_ptr<DequeueRule> rule_;
  std::size_t (*next_queue_)(QueueViews);
  std::vector<Container> containers_;
  std::vector<QueueView> views_;
  bool has_deadlines_ = false;
  double kick_up_ms_ = 1000.0;
  std::size_t urgent_queue_ = 0;  // of the greatest weight: one of 0 might wait for ever
  std::size_t size_ = 0;
};

}  // namespace poolpilot
