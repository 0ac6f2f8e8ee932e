// Admission in the simulated pool, and where a limit is worth having.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/load.hpp"

namespace poolpilot::sim {
namespace {

double gauge(const SimulatedPool& pool, const std::string& name) {
  return pool.snapshot().gauges.at(name);
}

void set_limit(SimulatedPool& pool, int limit) {
  PoolKnobs knobs = pool.knobs();
  knobs.admission.admission_limit = limit;
  pool.set_knobs(knobs);
}

void run_until(SimulatedPool& pool, double until_s) {
  RunLimits limits;
  limits.until_s = until_s;
  pool.run(limits);
}

SimulationSettings with_limit(SimulationSettings settings, int limit, int escape_ms = 0,
                              int queue_limit = 0) {
  settings.knobs.admission = {limit, escape_ms, queue_limit};
  return settings;
}

// Transactions of one request, all of which want one row: whoever holds it walks the list of those
// who wait, and their waits are reported, so that the pool starts a thread for every one.
SimulationSettings hot_row(int connections) {
  SimulationSettings settings =
      settings_of({class_of("all", {plain(Op::kBegin), cpu(50, 0.5), latch(Op::kAcquire, 0, 0, 2.0),
                                    cpu(100), plain(Op::kCommit)})},
                  connections);
  settings.load.classes[0].steps[2].reported = true;
  settings.machine.cpus = 4;
  settings.tuple.pool_size = 4;
  return settings;
}

// Everybody waits for something before the latch, so that too few inside leave the latch idle.
SimulationSettings latch_convoy(int connections) {
  SimulationSettings settings = hot_row(connections);
  settings.load.classes[0].steps.insert(settings.load.classes[0].steps.begin() + 1,
                                        wait(800, true, WaitKind::kDiskIo));
  return settings;
}

double goodput_per_s(const SimulationSettings& settings) {
  SimulatedPool pool(settings);
  return throughput_per_s(pool, 0.5, 2.0);
}

TEST(SimAdmission, NoMoreThanTheLimitAreInside) {
  SimulatedPool pool(with_limit(hot_row(64), 5));
  double most = 0.0;
  for (int i = 1; i <= 1'000; ++i) {
    run_until(pool, i * 1e-3);
    most = std::max(most, gauge(pool, "admission_inside"));
  }
  EXPECT_EQ(most, 5.0);
  EXPECT_GT(counter(pool, "admission_parked"), 100.0);
  EXPECT_GE(pool.answered() + 5, counter(pool, "admission_admitted"));
}

TEST(SimAdmission, ThoseThatWaitHoldNoThread) {
  SimulationSettings settings =
      with_limit(settings_of({class_of("all", {wait(1'000, true)})}, 200), 3);
  settings.tuple.pool_size = 1;
  SimulatedPool pool(settings);
  run_until(pool, 1.0);
  EXPECT_GE(gauge(pool, "admission_waiting"), 190.0);
  EXPECT_LE(gauge(pool, "threads"), 6.0);
  EXPECT_NEAR(static_cast<double>(pool.answered()), 3 * 1'000.0, 500.0);
}

TEST(SimAdmission, EverybodyGetsTheirTurn) {
  std::vector<load::ClassSpec> classes;
  for (std::size_t i = 0; i < kClasses; ++i) {
    classes.push_back(class_of("class " + std::to_string(i), {cpu(100)}));
  }
  SimulatedPool pool(with_limit(settings_of(classes, 6 * static_cast<int>(kClasses)), 1));
  run_until(pool, 1.0);
  std::vector<std::int64_t> answered;
  for (const auto& [name, histogram] : pool.snapshot().histograms) {
    if (!name.starts_with("latency_us/")) continue;
    answered.push_back(
        std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::int64_t{0}));
  }
  ASSERT_EQ(answered.size(), kClasses);
  const auto [least, most] = std::ranges::minmax(answered);
  EXPECT_GT(least, 500);
  EXPECT_LE(most - least, 12);  // a round is 6 of each class
}

TEST(SimAdmission, ALongTransactionGivesItsPlaceAway) {
  const auto classes = {class_of("opens", {plain(Op::kBegin)}, 1e6), class_of("short", {cpu(10)})};
  SimulatedPool stuck(with_limit(settings_of(classes, 2), 1));
  RunLimits limits;
  limits.until_s = 3.0;
  stuck.run(limits);
  SimulatedPool escaping(with_limit(settings_of(classes, 2), 1, 500));
  escaping.run(limits);
  EXPECT_LE(counter(stuck, "completed"), 1'000.0);
  EXPECT_EQ(counter(stuck, "admission_escaped"), 0.0);
  EXPECT_EQ(counter(escaping, "admission_escaped"), 1.0);
  EXPECT_GT(counter(escaping, "completed"), counter(stuck, "completed") + 10'000.0);
}

TEST(SimAdmission, WhoIsRefusedTriesAgainAndEveryRequestIsAnswered) {
  SimulatedPool pool(with_limit(hot_row(64), 2, 0, 8));
  run_until(pool, 1.0);
  const double refused = counter(pool, "admission_refused");
  EXPECT_GT(refused, 100.0);
  EXPECT_GT(counter(pool, "completed"), 100.0);
  EXPECT_LE(gauge(pool, "admission_waiting"), 8.0);
  EXPECT_EQ(static_cast<double>(pool.sent()), counter(pool, "completed") + counter(pool, "failed") +
                                                  refused + static_cast<double>(pool.in_flight()));
}

TEST(SimAdmission, AnOpenLoopGoesOnAfterARefusal) {
  SimulationSettings settings = with_limit(hot_row(64), 2, 0, 4);
  settings.load.rate_per_s = 30'000.0;
  SimulatedPool pool(settings);
  run_until(pool, 1.0);
  EXPECT_GT(counter(pool, "admission_refused"), 1'000.0);
  EXPECT_GT(static_cast<double>(pool.sent()), 20'000.0);
}

TEST(SimAdmission, ALimitCanChangeWhileItServes) {
  SimulatedPool pool(hot_row(64));
  run_until(pool, 0.1);
  set_limit(pool, 4);
  run_until(pool, 0.5);
  EXPECT_EQ(gauge(pool, "admission_inside"), 4.0);
  EXPECT_EQ(gauge(pool, "admission_limit"), 4.0);
  set_limit(pool, 9);
  EXPECT_EQ(gauge(pool, "admission_inside"), 9.0);
  set_limit(pool, 0);
  EXPECT_EQ(gauge(pool, "admission_waiting"), 0.0);
  run_until(pool, 1.0);
  EXPECT_EQ(gauge(pool, "admission_inside"), 0.0);
  EXPECT_THROW(set_limit(pool, -1), std::invalid_argument);
}

// One class that holds its place for long beside one that nobody is to hold up.
TEST(SimAdmission, AnExemptClassNeedsNoPlace) {
  const auto classes = {class_of("slow", {wait(50'000, true)}),
                        class_of("urgent", {cpu(100)}, 1.0)};
  const auto urgent_answers = [&](int exempt_class) {
    SimulationSettings settings = with_limit(settings_of(classes, 40), 2, 0, 4);
    settings.knobs.admission.admission_exempt_class = exempt_class;
    SimulatedPool pool(settings);
    run_until(pool, 1.0);
    EXPECT_LE(gauge(pool, "admission_inside"), 2.0);
    EXPECT_GT(counter(pool, "admission_refused"), 0.0);
    const PoolSnapshot after = pool.snapshot();
    const auto& counts = after.histograms.at("latency_us/urgent").counts;
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const auto held_up = urgent_answers(kNoClass);
  EXPECT_GT(held_up, 0);
  EXPECT_GT(urgent_answers(1), 20 * held_up);
}

TEST(SimAdmission, ALimitThatDoesNotBindChangesNothing) {
  for (const auto& load : {hot_row(24), latch_convoy(24)}) {
    SimulatedPool without(load);
    SimulatedPool with(with_limit(load, 24));
    run_until(without, 2.0);
    run_until(with, 2.0);
    EXPECT_EQ(counter(with, "admission_parked"), 0.0);
    EXPECT_EQ(with.events(), without.events());
    EXPECT_EQ(with.answered(), without.answered());
  }
}

TEST(SimAdmission, AGoodLimitIsWorthHavingWhereLatchesCollapse) {
  for (const auto& load : {hot_row(256), latch_convoy(256)}) {
    const double without = goodput_per_s(load);
    const double with = goodput_per_s(with_limit(load, 12));
    EXPECT_GT(with, 1.5 * without);
  }
}

// On many processors a place is worth a processor: it must not lie idle in a group whose threads
// are busy while others have none.
TEST(SimAdmission, PlacesDoNotGatherInAFewGroups) {
  const auto settings_with = [](int connections, int limit) {
    SimulationSettings settings = settings_of(
        {class_of("all", {cpu(300, 0.5), wait(500, true), cpu(100, 0.5)})}, connections);
    settings.machine.cpus = 32;
    settings.tuple = {32, 3, 500, true, 60.0};
    return with_limit(settings, limit);
  };
  const double alone = goodput_per_s(settings_with(128, 0));
  EXPECT_GT(goodput_per_s(settings_with(2'048, 128)), 0.95 * alone);
}

TEST(SimAdmission, ALimitThatIsTooLowCostsWhereRequestsWait) {
  const SimulationSettings load = latch_convoy(256);
  EXPECT_GT(goodput_per_s(with_limit(load, 12)), 1.5 * goodput_per_s(with_limit(load, 2)));
}

TEST(SimAdmission, WithTheLimitThroughputStaysNearItsPeakForAnyNumberOfClients) {
  double peak = 0.0;
  for (const int connections : {16, 64, 256, 1'024, 2'048}) {
    const double with = goodput_per_s(with_limit(latch_convoy(connections), 12));
    peak = std::max(peak, with);
    EXPECT_GT(with, 0.9 * peak) << connections;
  }
}

}  // namespace
}  // namespace poolpilot::sim
