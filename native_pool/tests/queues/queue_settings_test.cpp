// What queues may be told, and the sentences by which the rest is refused.
#include "queues/queue_settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/queues/queue_plan.hpp"

namespace poolpilot {
namespace {

std::string refusal(const QueueSettings& settings) {
  try {
    check(settings);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

TEST(QueueSettings, TheDefaultIsMariaDbs) {
  const QueueSettings chosen = resolved(QueueSettings{});
  EXPECT_EQ(refusal(QueueSettings{}), "taken");
  EXPECT_EQ(chosen.queues.size(), 2U);
  EXPECT_EQ(chosen.queues[1].deadline_ms, kKickUpDeadline);
  EXPECT_EQ(chosen.dequeue, Dequeue::kPriority);
}

TEST(QueueSettings, RulesCanBeChosenOneByOne) {
  QueueSettings settings = weighted(Discipline::kWeighted, {0.5, 0.5});
  settings.container = Container::kLifo;
  settings.next_queue = NextQueue::kFirstNonEmpty;
  const QueueSettings chosen = resolved(settings);
  EXPECT_EQ(chosen.dequeue, Dequeue::kWeighted);
  EXPECT_EQ(chosen.container, Container::kLifo);
  EXPECT_EQ(chosen.next_queue, NextQueue::kFirstNonEmpty);
  EXPECT_EQ(refusal(settings), "taken");
}

TEST(QueueSettings, RefusalsNameTheSettingItsValueAndItsRange) {
  EXPECT_EQ(refusal(weighted(Discipline::kWeighted, {0.5, 0.4})),
            "sum of the weights is 0.9, but must be 1");
  EXPECT_EQ(refusal(weighted(Discipline::kWeighted, {1.5, -0.5})),
            "weight is 1.5, but must be in 0..1");
  EXPECT_EQ(refusal(weighted(Discipline::kPriority, {})),
            "number of queues is 0, but must be in 1..16");
  EXPECT_EQ(refusal(by_class(Discipline::kMariaDb, {{}, {}, {}})),
            "number of queues of mariadb is 3, but must be in 2..2");
  EXPECT_EQ(refusal(by_class(Discipline::kImpatient, {{}, {}})),
            "deadline_ms is 0, but must be above 0 for a queue of impatient");

  EXPECT_EQ(refusal(by_class(Discipline::kPriority, {{}, {.deadline_ms = -0.5}})),
            "deadline_ms is -0.5, but must be at least 0, or -1 for that of prio_kickup_ms");
  EXPECT_EQ(refusal(by_class(Discipline::kPriority, {{}, {.deadline_ms = -2}})),
            "deadline_ms is -2, but must be in -1..3600000");
  EXPECT_EQ(refusal(by_class(Discipline::kPriority, {{}, {.deadline_ms = kKickUpDeadline}})),
            "taken");

  QueueSettings settings = by_class(Discipline::kPriority, {{}, {.deadline_ms = 5}});
  settings.container = Container::kLifo;
  EXPECT_EQ(refusal(settings),
            "container is lifo, but must be fifo where a queue has a deadline_ms");

  settings = by_class(Discipline::kPriority, {{}, {}});
  settings.default_queue = 2;
  EXPECT_EQ(refusal(settings), "default_queue is 2, but must be in -1..1");
  settings.default_queue = -1;
  settings.rules.push_back({0, Transaction::kEither, 2});
  EXPECT_EQ(refusal(settings), "queue is 2, but must be in 0..1");
  settings.rules.back() = {8, Transaction::kEither, 0};
  EXPECT_EQ(refusal(settings), "class_id is 8, but must be in -1..7");
}

TEST(QueueSettings, NewWeightsAreCheckedLikeTheFirst) {
  const auto refusal_of = [](Discipline discipline, const std::vector<double>& weights) {
    try {
      check_weights(weighted(discipline, {0.5, 0.5}), weights);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal_of(Discipline::kWeighted, {0.1, 0.9}), "taken");
  EXPECT_EQ(refusal_of(Discipline::kWeighted, {1.0}),
            "number of weights is 1, but must be in 2..2");
  EXPECT_EQ(refusal_of(Discipline::kWeighted, {0.1, 0.1}),
            "sum of the weights is 0.2, but must be 1");
  EXPECT_EQ(refusal_of(Discipline::kIsraeli, {0.5, 0.5}),
            "discipline is israeli, but must be one with weights, so that they can be set");
}

TEST(Classifier, TheFirstRuleThatFitsHolds) {
  QueueSettings settings = by_class(Discipline::kPriority, {{}, {}, {}});
  settings.rules = {{2, Transaction::kEither, 1},
                    {kAnyClass, Transaction::kInside, 0},
                    {3, Transaction::kOutside, 2}};
  Classifier classifier(resolved(settings));
  EXPECT_EQ(classifier.queue_of({.class_id = 2, .in_transaction = true}), 1U);
  EXPECT_EQ(classifier.queue_of({.class_id = 3, .in_transaction = true}), 0U);
  EXPECT_EQ(classifier.queue_of({.class_id = 3}), 2U);
  EXPECT_EQ(classifier.queue_of({.class_id = kAnyClass, .in_transaction = true}), 0U);
  EXPECT_EQ(classifier.unmapped(), 0);
  EXPECT_EQ(classifier.queue_of({.class_id = 5}), 2U);  // none: the last queue is the default
  EXPECT_EQ(classifier.unmapped(), 1);
}

}  // namespace
}  // namespace poolpilot
