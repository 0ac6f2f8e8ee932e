// Each discipline by its own property: shares under saturation, bounds on waiting, order.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/queues/queue_plan.hpp"

namespace poolpilot {
namespace {

using Items = std::vector<int>;

constexpr double kClose = 0.02;  // of a share, as a ratio
constexpr int kRequests = 200'000;

const std::vector<double> kWeights{1.0 / 9.0, 3.0 / 9.0, 5.0 / 9.0};
const std::vector<double> kAlike{100.0, 100.0, 100.0};
const std::vector<double> kLengths{700.0, 100.0, 30.0};

void expect_shares(const std::vector<double>& had, const std::vector<double>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(had[i] / wanted[i], 1.0, kClose) << i;
}

TEST(Disciplines, PurePriorityServesALowQueueOnlyWhileTheHigherAreEmpty) {
  TestQueues queues(by_class(Discipline::kPriority, {{}, {}, {}}), 0);
  for (const int class_id : {2, 1, 0, 2, 1, 0}) put(queues, class_id, class_id);
  EXPECT_EQ(drained(queues), (Items{0, 0, 1, 1, 2, 2}));
  const Saturated starved(by_class(Discipline::kPriority, {{}, {}, {}}), kAlike, 1'000);
  EXPECT_EQ(starved.taken[1], 0.0);
  EXPECT_EQ(starved.taken[2], 0.0);
}

TEST(Disciplines, WeightedPrioritiesShareRequestsByWeight) {
  expect_shares(Saturated(weighted(Discipline::kWeighted, kWeights), kAlike, kRequests).taken,
                kWeights);
}

TEST(Disciplines, FairQueueingSharesRequestsByWeight) {
  expect_shares(Saturated(weighted(Discipline::kFair, kWeights), kLengths, kRequests).taken,
                kWeights);
}

TEST(Disciplines, FairQueueingSharesTimeByWeight) {
  QueueSettings settings = weighted(Discipline::kFair, kWeights);
  settings.share_of = ShareOf::kTime;
  expect_shares(Saturated(settings, kLengths, kRequests).time_us, kWeights);
}

TEST(Disciplines, WeightedRoundRobinSharesRequestsByWeight) {
  expect_shares(
      Saturated(weighted(Discipline::kWeightedRoundRobin, {0.3, 0.7}), {700.0, 30.0}, kRequests)
          .taken,
      {0.3, 0.7});
}

TEST(Disciplines, WeightedRoundRobinTakesARunFromEachQueue) {
  TestQueues queues(weighted(Discipline::kWeightedRoundRobin, {0.75, 0.25}), 0);
  for (int i = 0; i < 6; ++i) put(queues, 0, 0);
  for (int i = 0; i < 2; ++i) put(queues, 1, 1);
  EXPECT_EQ(drained(queues), (Items{0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(Disciplines, DeficitRoundRobinSharesTimeByWeight) {
  for (const double round_ms : {0.05, 1.0, 20.0}) {  // below, near and above a request's length
    QueueSettings settings = weighted(Discipline::kDeficitRoundRobin, kWeights);
    settings.round_ms = round_ms;
    expect_shares(Saturated(settings, kLengths, kRequests).time_us, kWeights);
  }
}

TEST(Disciplines, FairQueueingLetsNobodyWaitForMoreThanTheSharesSay) {
  // Between two requests of a queue others have at most those of their shares, and one each.
  const Saturated fair(weighted(Discipline::kFair, kWeights), kAlike, kRequests);
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    const double others = (1.0 - kWeights[i]) / kWeights[i];
    EXPECT_LE(fair.longest_gap[i], others + 2.0) << i;
  }
}

TEST(Disciplines, LowLatencyQueueGoesFirstAndTheOthersShareWhatItLeaves) {
  const QueueSettings settings = weighted(Discipline::kFairLowLatency, {0.0, 0.25, 0.75});
  TestQueues queues(settings, 0);
  std::vector<double> taken(3);
  for (int i = 0; i < 4; ++i) put(queues, 1 + i % 2, 1 + i % 2);
  for (int i = 0; i < 10'000; ++i) {
    if (i % 4 == 0) put(queues, 0, 0);
    const TestQueues::Taken one = queues.take();
    EXPECT_EQ(one.item == 0, i % 4 == 0);
    taken[static_cast<std::size_t>(one.item)] += 1.0;
    if (one.item > 0) put(queues, one.item, one.item);
  }
  expect_shares(taken, {2'500, 7'500 * 0.25, 7'500 * 0.75});
}

TEST(Disciplines, AQueueOfNoWeightIsServedOnlyWhileAllOthersAreEmpty) {
  for (const Discipline discipline :
       {Discipline::kWeighted, Discipline::kFair, Discipline::kWeightedRoundRobin,
        Discipline::kDeficitRoundRobin}) {
    for (const NextQueue next : {NextQueue::kFirstNonEmpty, NextQueue::kGreatestWeight}) {
      QueueSettings settings = weighted(discipline, {0.0, 0.5, 0.5});
      settings.next_queue = next;
      TestQueues queues(settings, 0);
      for (int i = 0; i < 50; ++i) put(queues, 0, 0);
      for (int i = 0; i < 50; ++i) put(queues, 2, 2);  // queue 1, of some weight, is empty
      const Items order = drained(queues);
      for (int i = 0; i < 50; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], 2);
      EXPECT_EQ(order.back(), 0);
    }
  }
}

TEST(Disciplines, ImpatientRequestsGoUpOneQueueAtATime) {
  TestQueues queues(by_class(Discipline::kImpatient, {{}, {.deadline_ms = 10}, {.deadline_ms = 5}}),
                    0);
  put(queues, 2, 2, 0);
  put(queues, 1, 1, 0);
  queues.age(5'001);  // 2 goes up behind 1
  put(queues, 3, 1, 5'001);
  queues.age(10'001);  // 1 goes up
  put(queues, 0, 0, 10'001);
  EXPECT_EQ(drained(queues), (Items{1, 0, 2, 3}));
}

TEST(Disciplines, ImpatientRequestsWaitAtMostTheirDeadlinesAndTheQueueAbove) {
  TestQueues queues(by_class(Discipline::kImpatient, {{}, {.deadline_ms = 10}, {.deadline_ms = 5}}),
                    0);
  put(queues, 2, 2, 0);
  int waited_ms = 0;
  for (; waited_ms < 1'000; ++waited_ms) {  // a request of the first class every millisecond
    put(queues, 0, 0, waited_ms * std::int64_t{1'000});
    queues.age(waited_ms * std::int64_t{1'000});
    if (queues.take().item == 2) break;
  }
  EXPECT_GE(waited_ms, 15);
  EXPECT_LE(waited_ms, 15 + 3);
}

// The third figure of Trub (priorities): after a request of the second class, all of its class that
// came in the meantime go first, then those of the highest class.
TEST(Disciplines, AlternatingPriorityStaysWithAClassWhileItHasRequests) {
  TestQueues queues(by_class(Discipline::kAlternating, {{}, {}, {}}), 0);
  put(queues, 10, 1);
  EXPECT_EQ(queues.take().item, 10);
  for (const int item : {20, 0, 11, 1, 21, 12}) put(queues, item, item / 10);
  EXPECT_EQ(drained(queues), (Items{11, 12, 0, 1, 20, 21}));
}

// A newcomer of urgency u passes a request j that has waited for w_j if u_j - u >= w_j.
TEST(Disciplines, DynamicPriorityWeighsUrgencyAgainstWaiting) {
  const QueueSettings settings =
      by_class(Discipline::kDynamic, {{.urgency_ms = 2}, {.urgency_ms = 10}});
  for (const auto& [arrival_us, passes] : {std::pair{8'000, true}, {8'001, false}}) {
    TestQueues queues(settings, 0);
    put(queues, 1, 1, 0);
    put(queues, 0, 0, arrival_us);
    EXPECT_EQ(queues.take().item, passes ? 0 : 1) << arrival_us;
  }
}

TEST(Disciplines, DynamicPriorityOrdersManyByArrivalAndUrgency) {
  TestQueues queues(by_class(Discipline::kDynamic, {{.urgency_ms = 1}, {.urgency_ms = 4}}), 0);
  put(queues, 14, 1, 0);      // due 4,000
  put(queues, 12, 0, 1'000);  // due 2,000
  put(queues, 15, 1, 1'000);  // due 5,000
  put(queues, 13, 0, 2'000);  // due 3,000
  EXPECT_EQ(drained(queues), (Items{12, 13, 14, 15}));
}

TEST(Disciplines, TheIsraeliQueueServesTheHeadThatHasWaitedLongest) {
  TestQueues queues(by_class(Discipline::kIsraeli, {{}, {}, {}}), 0);
  put(queues, 20, 2, 10);
  put(queues, 0, 0, 20);
  put(queues, 10, 1, 30);
  put(queues, 21, 2, 40);
  EXPECT_EQ(drained(queues), (Items{20, 0, 10, 21}));
}

TEST(Disciplines, EveryDisciplineGivesBackEveryRequestOnce) {
  for (std::size_t i = 0; i < kDisciplineNames.size(); ++i) {
    const auto discipline = static_cast<Discipline>(i);
    QueueSettings settings = weighted(discipline, {0.2, 0.8});
    settings.queues[1].deadline_ms = discipline == Discipline::kImpatient ? 1.0 : 0.0;
    if (discipline == Discipline::kMariaDb) settings = QueueSettings{};
    check(settings);
    TestQueues queues(settings, 1);
    std::vector<int> had(1'000);
    for (int item = 0; item < 1'000; ++item) {
      put(queues, item, item % 3, item * std::int64_t{10});
      queues.age(item * std::int64_t{10});
      if (item % 5 != 0) ++had[static_cast<std::size_t>(queues.take().item)];
    }
    for (const int item : drained(queues)) ++had[static_cast<std::size_t>(item)];
    EXPECT_EQ(had, std::vector<int>(1'000, 1)) << kDisciplineNames[i];
  }
}

}  // namespace
}  // namespace poolpilot
