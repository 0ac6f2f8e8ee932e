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
