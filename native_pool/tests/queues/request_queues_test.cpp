// The order in which requests come out of a group's queues: MariaDB's two levels, and what any
// discipline is combined from.
#include "queues/request_queues.hpp"

#include <gtest/gtest.h>

#include "tests/queues/queue_plan.hpp"

namespace poolpilot {
namespace {

using Items = std::vector<int>;

constexpr RequestKey kInside{.in_transaction = true};
constexpr RequestKey kOutside{};

TEST(MariaDbQueues, TransactionsGoFirstAndEachLevelIsFifo) {
  TestQueues queues(QueueSettings{}, 0);
  queues.put(1, kOutside, 0);
  queues.put(2, kInside, 0);
  queues.put(3, kOutside, 0);
  queues.put_urgent(4, 0);
  EXPECT_EQ(queues.size(), 4U);
  EXPECT_EQ(drained(queues), (Items{2, 4, 1, 3}));
}

TEST(MariaDbQueues, OldLowItemsAreKickedUpBehindTheHighOnes) {
  TestQueues queues(QueueSettings{}, 0);
  queues.set_kick_up_ms(1);
  queues.put(1, kOutside, 0);
  queues.put(2, kOutside, 501);
  queues.put(3, kInside, 900);
  queues.age(1'001);
  queues.put(4, kInside, 1'001);
  EXPECT_EQ(drained(queues), (Items{3, 1, 4, 2}));
}

TEST(MariaDbQueues, ItemsStayUntilTheirTimeIsOver) {
  TestQueues queues(QueueSettings{}, 0);
  queues.set_kick_up_ms(1);
  queues.put(1, kOutside, 0);
  queues.put(2, kInside, 0);
  queues.age(1'000);
  queues.put(3, kInside, 1'000);
  EXPECT_EQ(drained(queues), (Items{2, 3, 1}));
}

TEST(MariaDbQueues, SessionPriorityOverrulesTheTransaction) {
  TestQueues queues(QueueSettings{}, 0);
  queues.put(1, {.in_transaction = true, .priority = SessionPriority::kLow}, 0);
  queues.put(2, {.priority = SessionPriority::kHigh}, 0);
  EXPECT_EQ(drained(queues), (Items{2, 1}));
}

TEST(RequestQueues, FifoKnowsNoClasses) {
  TestQueues queues(by_class(Discipline::kFifo, {{}, {}}), 0);
  for (const int item : {3, 1, 2}) put(queues, item, item % 2);
  EXPECT_EQ(drained(queues), (Items{3, 1, 2}));
}

TEST(RequestQueues, AContainerCanTakeTheLastFirst) {
  QueueSettings settings = by_class(Discipline::kPriority, {{}, {}});
  settings.container = Container::kLifo;
  check(settings);
  TestQueues queues(settings, 0);
  for (const int item : {10, 20, 11, 21}) put(queues, item, item / 20);
  EXPECT_EQ(drained(queues), (Items{11, 10, 21, 20}));
}

TEST(RequestQueues, NextQueueRuleDecidesWhereTheDrawnQueueIsEmpty) {
  // Queue 0 is empty and is drawn nearly always.
  for (const auto& [rule, first] :
       {std::pair{NextQueue::kFirstNonEmpty, 1}, std::pair{NextQueue::kGreatestWeight, 2}}) {
    QueueSettings settings = weighted(Discipline::kWeighted, {0.9998, 0.0001, 0.0001001});
    settings.queues[0].weight = 1.0 - 0.0001 - 0.0001001;
    settings.next_queue = rule;
    TestQueues queues(settings, 0);
    put(queues, 2, 2);
    put(queues, 1, 1);
    EXPECT_EQ(queues.take().item, first);
  }
}

TEST(RequestQueues, WeightsChangeWhileServing) {
  TestQueues queues(weighted(Discipline::kWeighted, {1.0, 0.0}), 0);
  put(queues, 0, 0);
  put(queues, 1, 1);
  queues.set_weights(std::vector{0.0, 1.0});
  EXPECT_EQ(drained(queues), (Items{1, 0}));
}

TEST(RequestQueues, WithoutWeightsThoseOfTheSettingsHoldAgain) {
  TestQueues queues(weighted(Discipline::kWeighted, {1.0, 0.0}), 0);
  queues.set_weights(std::vector{0.0, 1.0});
  queues.set_weights({});
  put(queues, 1, 1);
  put(queues, 0, 0);
  queues.put_urgent(9, 0);
  EXPECT_EQ(drained(queues), (Items{0, 9, 1}));
}

// Requests of class 2 are put again once before they are served, as after a wait for admission.
// Queue 0 has the greatest weight: they wait there, and it must not pay for them.
std::vector<double> served_where_some_are_put_again(const QueueSettings& settings) {
  constexpr double kServedUs = 100.0;
  TestQueues queues(settings, 0);
  constexpr int kItems = 100;  // most are of class 2, whose queue is never empty
  const auto class_of = [](int item) { return std::min(item / 2, 2); };
  for (int item = 0; item < kItems; ++item) put(queues, item, class_of(item));
  std::vector<double> served(3);
  std::vector<bool> waited(kItems);
  for (int i = 0; i < 100'000; ++i) {
    const TestQueues::Taken one = queues.take();
    const auto item = static_cast<std::size_t>(one.item);
    waited[item] = class_of(one.item) == 2 && !waited[item];
    queues.serve(one, waited[item] ? 0.0 : kServedUs);
    if (waited[item]) {
      queues.put_again(one.item, one.queue, 0);
    } else {
      served[static_cast<std::size_t>(class_of(one.item))] += 1.0;
      put(queues, one.item, class_of(one.item));
    }
  }
  return served;
}

TEST(RequestQueues, WhatIsPutAgainCountsOnceAndForItsOwnQueue) {
  QueueSettings by_time = weighted(Discipline::kFair, {0.5, 0.25, 0.25});
  by_time.share_of = ShareOf::kTime;
  for (const QueueSettings& settings :
       {weighted(Discipline::kFair, {0.5, 0.25, 0.25}), by_time,
        weighted(Discipline::kWeightedRoundRobin, {0.5, 0.25, 0.25}),
        weighted(Discipline::kDeficitRoundRobin, {0.5, 0.25, 0.25})}) {
    const std::vector<double> served = served_where_some_are_put_again(settings);
    SCOPED_TRACE(kDisciplineNames[static_cast<std::size_t>(settings.discipline)]);
    EXPECT_NEAR(served[0] / served[1], 2.0, 0.05);
    EXPECT_NEAR(served[2] / served[1], 1.0, 0.05);
  }
}

TEST(RequestQueues, AlternatingPriorityStaysWithTheClassThatWasPutAgain) {
  TestQueues queues(by_class(Discipline::kAlternating, {{}, {}}), 0);
  put(queues, 10, 1);
  const TestQueues::Taken one = queues.take();
  put(queues, 0, 0);
  queues.put_again(one.item, one.queue, 0);
  EXPECT_EQ(queues.take().item, 0);
  put(queues, 11, 1);
  put(queues, 1, 0);
  EXPECT_EQ(drained(queues), (Items{10, 11, 1}));
}

TEST(RequestQueues, ALoginDoesNotWaitInAQueueOfNoWeight) {
  TestQueues queues(weighted(Discipline::kWeighted, {0.0, 1.0}), 0);
  put(queues, 1, 1);
  queues.put_urgent(9, 0);
  put(queues, 2, 1);
  EXPECT_EQ(drained(queues), (Items{1, 9, 2}));
}

TEST(RequestQueues, DrawsOfTheSameSeedAndStreamAreTheSame) {
  const auto order = [](int seed, std::uint64_t stream) {
    QueueSettings settings = weighted(Discipline::kWeighted, {0.5, 0.5});
    settings.queue_seed = seed;
    TestQueues queues(settings, stream);
    for (int i = 0; i < 200; ++i) put(queues, i, i % 2);
    return drained(queues);
  };
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 2), order(1, 3));
  EXPECT_NE(order(1, 2), order(2, 2));
}

TEST(RequestQueues, WhatNoRuleMapsGoesToTheDefaultQueueAndIsCounted) {
  QueueSettings settings = by_class(Discipline::kPriority, {{}, {}, {}});
  settings.default_queue = 1;
  TestQueues queues(settings, 0);
  put(queues, 7, 7);
  put(queues, 8, kAnyClass);
  put(queues, 2, 2);
  put(queues, 0, 0);
  EXPECT_EQ(queues.unmapped(), 2);
  EXPECT_EQ(drained(queues), (Items{0, 7, 8, 2}));
}

}  // namespace
}  // namespace poolpilot
