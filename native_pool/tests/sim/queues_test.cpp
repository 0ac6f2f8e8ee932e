// Disciplines in the simulated pool: what they give to classes that never run out of requests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/queues/queue_plan.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot::sim {
namespace {

// A short and a long class, in one group, with more connections than it ever serves at once. While
// nobody listens a group empties its queues before it looks for more, and a discipline orders no
// more than that, so here the listener does nothing else.
SimulationSettings saturated(const QueueSettings& queues) {
  SimulationSettings settings =
      settings_of({class_of("short", {cpu(100)}), class_of("long", {cpu(400)})}, 200);
  settings.machine.overhead_us = 1.0;
  settings.tuple.pool_size = 1;
  settings.tuple.timer_interval_ms = 500;
  settings.knobs.group.dedicated_listener = true;
  settings.queues = queues;
  settings.queues.class_known = ClassKnown::kPeeked;
  return settings;
}

// Answers of each class in some seconds after the first.
std::vector<double> answered(SimulatedPool& pool, double seconds = 20.0) {
  const auto counts = [&] {
    const PoolSnapshot snapshot = pool.snapshot();
    std::vector<double> sums;
    for (const char* name : {"latency_us/short", "latency_us/long"}) {
      double sum = 0.0;
      for (const auto count : snapshot.histograms.at(name).counts)
        sum += static_cast<double>(count);
      sums.push_back(sum);
    }
    return sums;
  };
  pool.run({.until_s = pool.now_s() + 1.0});
  const std::vector<double> before = counts();
  pool.run({.until_s = pool.now_s() + seconds});
  std::vector<double> after = counts();
  for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
  return after;
}

TEST(SimulatedQueues, WeightsShareTheAnswers) {
  for (const Discipline discipline :
       {Discipline::kWeighted, Discipline::kFair, Discipline::kWeightedRoundRobin}) {
    SimulatedPool pool(saturated(weighted(discipline, {0.75, 0.25})));
    const std::vector<double> had = answered(pool);
    EXPECT_NEAR(had[0] / had[1], 3.0, 0.06)
        << kDisciplineNames[static_cast<std::size_t>(discipline)];
  }
}

TEST(SimulatedQueues, WithoutAListenerADisciplineOrdersOnlyWhatOnePollHasFound) {
  SimulationSettings settings = saturated(weighted(Discipline::kWeighted, {0.75, 0.25}));
  settings.knobs.group.dedicated_listener = false;
  SimulatedPool pool(settings);
  const std::vector<double> had = answered(pool);
  EXPECT_NEAR(had[0] / had[1], 1.0, 0.05);
}

TEST(SimulatedQueues, TimeIsSharedByWeight) {
  QueueSettings fair = weighted(Discipline::kFair, {0.5, 0.5});
  fair.share_of = ShareOf::kTime;
  for (const QueueSettings& queues : {fair, weighted(Discipline::kDeficitRoundRobin, {0.5, 0.5})}) {
    SimulatedPool pool(saturated(queues));
    const std::vector<double> had = answered(pool);
    EXPECT_NEAR(had[0] / had[1], 4.0, 0.12);  // the long take four times as long
  }
}

TEST(SimulatedQueues, WeightsChangeWhileServing) {
  SimulatedPool pool(saturated(weighted(Discipline::kWeighted, {0.75, 0.25})));
  answered(pool, 1.0);
  PoolKnobs knobs = pool.knobs();
  knobs.weights = {0.25, 0.75};
  pool.set_knobs(knobs);
  const std::vector<double> had = answered(pool);
  EXPECT_NEAR(had[1] / had[0], 3.0, 0.06);
  knobs.weights.clear();  // those of the settings
  pool.set_knobs(knobs);
  const std::vector<double> again = answered(pool);
  EXPECT_NEAR(again[0] / again[1], 3.0, 0.06);
}

// The short ones need no place, the long ones have one for good. What is let in beside them goes
// through the queue of the greatest weight, which is the short ones', and takes nothing of theirs.
TEST(SimulatedQueues, WhoIsLetInByAdmissionCountsForItsOwnQueue) {
  SimulationSettings settings = saturated(weighted(Discipline::kFair, {0.5, 0.3, 0.2}));
  settings.load.classes[1].steps.insert(settings.load.classes[1].steps.begin(), plain(Op::kBegin));
  settings.load.classes.push_back(class_of("limited", {wait(50'000, true)}));
  settings.load.connections = 300;
  settings.knobs.admission = {160, 0, 0, 0};
  SimulatedPool pool(settings);
  answered(pool, 10.0);
  ASSERT_GT(counter(pool, "admission_parked"), 1'000);
  const std::vector<double> had = answered(pool);
  EXPECT_NEAR(had[0] / had[1], 5.0 / 3.0, 0.04);
}

TEST(SimulatedQueues, AWeightOfNoneIsServedWhileTheOtherClassIsAway) {
  SimulationSettings settings = saturated(weighted(Discipline::kWeighted, {1.0, 0.0}));
  SimulatedPool starved(settings);
  EXPECT_EQ(answered(starved)[1], 0.0);
  settings.load.classes[0].think_ms = 200.0;  // now the short ones leave gaps
  SimulatedPool alone(settings);
  EXPECT_GT(answered(alone)[1], 0.0);
}

TEST(SimulatedQueues, TheSameSeedGivesTheSameRun) {
  const auto run = [](int seed) {
    QueueSettings queues = weighted(Discipline::kWeighted, {0.5, 0.5});
    queues.queue_seed = seed;
    SimulatedPool pool(saturated(queues));
    return answered(pool, 2.0);
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(SimulatedQueues, ADeclaredClassIsKnownFromTheSecondRequestOn) {
  SimulationSettings settings = saturated(by_class(Discipline::kPriority, {{}, {}}));
  settings.queues.class_known = ClassKnown::kDeclared;
  settings.queues.default_queue = 0;
  SimulatedPool unknown(settings);
  answered(unknown, 1.0);
  EXPECT_GT(counter(unknown, "unmapped_requests"), 1'000);
  for (load::ClassSpec& spec : settings.load.classes) {
    spec.steps.insert(spec.steps.begin(), plain(Op::kDeclare));
  }
  SimulatedPool known(settings);
  answered(known, 1.0);
  EXPECT_EQ(counter(known, "unmapped_requests"), 200);
  EXPECT_EQ(counter(known, "misplaced_requests"), 200);
}

TEST(SimulatedQueues, TheClassOfTheLastRequestIsRightWhereAConnectionSendsOneOnly) {
  SimulationSettings settings = saturated(by_class(Discipline::kPriority, {{}, {}}));
  settings.queues.default_queue = 0;
  const auto misplaced = [&](ClassKnown known) {
    settings.queues.class_known = known;
    SimulatedPool pool(settings);
    answered(pool, 1.0);
    return counter(pool, "misplaced_requests");
  };
  EXPECT_EQ(misplaced(ClassKnown::kLast), 200);  // the first of each connection
  EXPECT_EQ(misplaced(ClassKnown::kPeeked), 0);
}

TEST(SimulatedQueues, ALookAtTheHeaderCostsProcessorTime) {
  SimulationSettings settings = saturated(by_class(Discipline::kPriority, {{}, {}}));
  settings.queues.rules.clear();
  settings.machine.cpus = 1;
  const auto rate = [&](ClassKnown known) {
    settings.queues.class_known = known;
    SimulatedPool pool(settings);
    return throughput_per_s(pool, 1.0, 5.0);
  };
  settings.machine.peek_us = 50.0;
  EXPECT_LT(rate(ClassKnown::kPeeked), 0.95 * rate(ClassKnown::kLast));
}

}  // namespace
}  // namespace poolpilot::sim
