#include "sim/pool.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/load.hpp"

namespace poolpilot::sim {
namespace {

// A workload with everything in it, for laws that hold whatever is simulated.
SimulationSettings mixed(std::uint64_t seed) {
  SimulationSettings settings = settings_of(
      {class_of("cpu", {cpu(300, 1.0)}, 1.0), class_of("silent", {cpu(50), wait(900, false)}),
       class_of("reported", {cpu(50), wait(700, true, WaitKind::kDiskIo)}),
       class_of("latched", {latch(Op::kAcquire, 1, 40, 5.0), cpu(80), latch(Op::kRelease, 1)}),
       class_of("transaction", {plain(Op::kBegin), latch(Op::kAcquire, 2), cpu(30)}),
       class_of("commit", {latch(Op::kAcquire, 2), cpu(30), plain(Op::kCommit)})},
      24);
  settings.machine.disks = 1;
  settings.machine.flush_us = 200.0;
  settings.load.seed = seed;
  settings.tuple.pool_size = 3;
  settings.latch_timeout_s = 0.05;
  return settings;
}

TEST(SimulatedPool, LosesNoRequest) {
  SimulatedPool pool(mixed(1));
  for (int step = 1; step <= 20; ++step) {
    RunLimits limits;
    limits.until_s = 0.1 * step;
    ASSERT_TRUE(pool.run(limits));
    EXPECT_EQ(counter(pool, "completed") + counter(pool, "failed") +
                  static_cast<double>(pool.in_flight()),
              static_cast<double>(pool.sent()));
    EXPECT_GE(pool.in_flight(), 0);
    EXPECT_LE(pool.in_flight(), 24);
    EXPECT_LE(counter(pool, "process_cpu_us"), 2.0 * 1e5 * step * (1.0 + 1e-9));
  }
  EXPECT_GT(counter(pool, "completed"), 1'000);
}

TEST(SimulatedPool, SameSeedIsTheSameRunHoweverItIsCutIntoSlices) {
  SimulatedPool whole(mixed(5));
  SimulatedPool sliced(mixed(5));
  SimulatedPool other(mixed(6));
  RunLimits limits;
  limits.until_s = 1.0;
  whole.run(limits);
  other.run(limits);
  limits.events = 97;
  while (!sliced.run(limits)) {
  }
  const PoolSnapshot one = whole.snapshot();
  const PoolSnapshot two = sliced.snapshot();
  EXPECT_EQ(one.counters, two.counters);
  EXPECT_EQ(one.histograms.at("queue_wait_us").counts, two.histograms.at("queue_wait_us").counts);
  EXPECT_EQ(whole.events(), sliced.events());
  EXPECT_NE(one.counters, other.snapshot().counters);
}

TEST(SimulatedPool, RecordedEventsReplayToTheSameDecisions) {
  SimulatedPool pool(mixed(2));
  RunLimits limits;
  limits.until_s = 0.5;
  pool.run(limits);
  pool.set_tuple({7, 1, 5, false, 0.02});
  limits.until_s = 1.0;
  pool.run(limits);
  pool.set_tuple({1, 3, 500, true, 60.0});
  limits.until_s = 2.0;
  pool.run(limits);
  std::size_t entries = 0;
  for (const EventLog& log : pool.event_logs()) {
    entries += log.entries.size();
    EXPECT_EQ(replay(log), log.entries.size());
  }
  EXPECT_GT(entries, 10'000U);
}

TEST(SimulatedPool, OneConnectionTakesTheTimeOfItsParts) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(100), wait(200, false)})}, 1);
  settings.machine.overhead_us = 10;
  settings.machine.wake_us = 5;
  settings.machine.wake_cost_us = 2;
  settings.machine.client_us = 3;
  SimulatedPool pool(settings);
  // The listener wakes and serves by itself; after the wait it pays for its wake-up once more.
  const double cycle_us = 3 + 5 + 2 + 10 + 100 + 200 + 2;
  EXPECT_NEAR(throughput_per_s(pool, 0.1, 1.0), 1e6 / cycle_us, 2.0);
}

TEST(SimulatedPool, PiecesSlackAndASharingGeneratorAddTheirTime) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(95), wait(200, false)})}, 1);
  settings.machine.overhead_us = 10;
  settings.machine.wake_us = 5;
  settings.machine.wake_cost_us = 2;
  settings.machine.piece_us = 10;
  settings.machine.timer_slack_us = 50;
  settings.machine.client_us = 3;
  settings.machine.client_shares = true;
  SimulatedPool pool(settings);
  // 95 us are ten pieces; the generator is woken and pays for it like a thread of the pool.
  const double cycle_us = (5 + 2 + 3) + (5 + 2) + 10 + 100 + (200 + 50) + 2;
  EXPECT_NEAR(throughput_per_s(pool, 0.1, 1.0), 1e6 / cycle_us, 2.0);
}

TEST(SimulatedPool, ShortSlicesAreAlmostSharing) {
  const auto rate_under = [](Contention::Law law) {
    SimulationSettings settings =
        settings_of({class_of("short", {cpu(300, 1.0)}), class_of("long", {cpu(6'000, 1.0)})}, 12);
    settings.machine.contention.law = law;
    settings.machine.contention.quantum_us = 20.0;
    settings.tuple.pool_size = 12;
    SimulatedPool pool(settings);
    return throughput_per_s(pool, 0.5, 20.0);
  };
  const double shared_per_s = rate_under(Contention::Law::kCost);
  EXPECT_NEAR(rate_under(Contention::Law::kSlices), shared_per_s, 0.03 * shared_per_s);
}

// On one processor a latch is only wanted by two while its holder is put off.
TEST(SimulatedPool, HolderWithoutAProcessorHoldsUpTheOthers) {
  const auto rate_with = [](int size) {
    SimulationSettings settings =
        settings_of({class_of("all", {cpu(200), wait(4'900, false), latch(Op::kAcquire, 0, 690, 54),
                                      cpu(235), latch(Op::kRelease, 0)})},
                    96);
    settings.machine.cpus = 1;
    settings.machine.contention.law = Contention::Law::kSlices;
    settings.machine.contention.quantum_us = 1'500.0;
    settings.tuple.timer_interval_ms = 500;
    settings.tuple.pool_size = size;
    SimulatedPool pool(settings);
    return throughput_per_s(pool, 0.5, 2.0);
  };
  EXPECT_LT(rate_with(64), 0.4 * rate_with(8));
}

TEST(SimulatedPool, MoreGroupsOverlapSilentWaits) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(20), wait(2'000, false)})}, 32);
  settings.machine.cpus = 1;
  settings.tuple.timer_interval_ms = 500;
  settings.tuple.oversubscribe = 1;
  const auto rate_at = [&settings](int size) {
    settings.tuple.pool_size = size;
    SimulatedPool pool(settings);
    return throughput_per_s(pool, 1.0, 2.0);
  };
  EXPECT_GT(rate_at(16), 4.0 * rate_at(1));
}

TEST(SimulatedPool, ReportedWaitLetsAnotherThreadWork) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(20), wait(2'000, true)})}, 8);
  settings.tuple.timer_interval_ms = 500;
  SimulatedPool pool(settings);
  EXPECT_GT(throughput_per_s(pool, 1.0, 1.0), 2'000.0);
  settings.tuple.create_thread_on_wait = false;
  SimulatedPool alone(settings);
  EXPECT_LT(throughput_per_s(alone, 0.0, 0.4), 1'000.0);
}

TEST(SimulatedPool, WaitersSlowTheLatchDown) {
  const auto rate_with = [](int connections, double waiter_cost_us) {
    SimulationSettings settings = settings_of(
        {class_of("all",
                  {latch(Op::kAcquire, 0, 0, waiter_cost_us), cpu(100), latch(Op::kRelease, 0)})},
        connections);
    settings.machine.cpus = 8;
    settings.tuple.pool_size = connections;
    SimulatedPool pool(settings);
    return throughput_per_s(pool, 0.2, 1.0);
  };
  EXPECT_NEAR(rate_with(64, 0.0), rate_with(8, 0.0), 0.2 * rate_with(8, 0.0));
  EXPECT_LT(rate_with(64, 10.0), 0.5 * rate_with(8, 10.0));
}

TEST(SimulatedPool, WaitersGetDearerTheMoreThereAre) {
  const auto rate_with = [](int connections, double waiter_growth) {
    SimulationSettings settings = settings_of(
        {class_of("all", {latch(Op::kAcquire, 0, 0, 5.0), cpu(10), latch(Op::kRelease, 0)})},
        connections);
    settings.machine.cpus = 8;
    settings.machine.waiter_growth = waiter_growth;
    settings.tuple.pool_size = connections;
    SimulatedPool pool(settings);
    return throughput_per_s(pool, 0.2, 2.0);
  };
  // Linear in the waiters without growth, so eight times as many cost up to eight times as much.
  EXPECT_LT(rate_with(16, 0.0) / rate_with(128, 0.0), 8.5);
  EXPECT_GT(rate_with(16, 1.0) / rate_with(128, 1.0), 20.0);
}

TEST(SimulatedPool, FlushServesAllCommitsThatWait) {
  SimulationSettings settings =
      settings_of({class_of("all", {plain(Op::kBegin), cpu(10), plain(Op::kCommit)})}, 16);
  settings.machine.cpus = 4;
  settings.machine.flush_us = 1'000;
  settings.tuple.pool_size = 16;
  SimulatedPool pool(settings);
  const double rate = throughput_per_s(pool, 0.2, 1.0);
  EXPECT_GT(rate, 5'000.0);
  EXPECT_LE(rate, 16'000.0);
}

TEST(SimulatedPool, DiskServesOneAfterAnother) {
  SimulationSettings settings =
      settings_of({class_of("all", {wait(1'000, true, WaitKind::kDiskIo)})}, 16);
  settings.machine.disks = 2;
  settings.tuple.pool_size = 8;
  SimulatedPool pool(settings);
  const double rate = throughput_per_s(pool, 0.5, 2.0);
  EXPECT_GT(rate, 1'500.0);
  EXPECT_LE(rate, 2'001.0);
}

TEST(SimulatedPool, DeadlockIsReportedWithItsLatches) {
  const SimulationSettings settings = opposite_latches(0.0);
  SimulatedPool pool(settings);
  try {
    RunLimits limits;
    limits.until_s = 1.0;
    pool.run(limits);
    FAIL() << "the pool went on";
  } catch (const Deadlock& deadlock) {
    const std::string text = deadlock.what();
    EXPECT_NE(text.find("waits for latch 3"), std::string::npos) << text;
    EXPECT_NE(text.find("waits for latch 4"), std::string::npos) << text;
  }
}

// What a run until then ends with; nothing where it goes on.
std::string deadlock_until(SimulatedPool& pool, double until_s) {
  try {
    pool.run({.until_s = until_s});
  } catch (const Deadlock& deadlock) {
    return deadlock.what();
  }
  return "";
}

TEST(SimulatedPool, ThreadsThatWaitForEachOtherAreToldByEveryLaterRun) {
  SimulatedPool pool(opposite_latches(0.0));
  const std::string text = deadlock_until(pool, 1.0);
  EXPECT_TRUE(text.starts_with("Threads wait for each other: ")) << text;
  EXPECT_EQ(deadlock_until(pool, 2.0), text);
  pool.set_tuple({8, 3, 20});
  pool.set_knobs(pool.knobs());
  EXPECT_EQ(deadlock_until(pool, 3.0), text);
}

// One connection commits what all others wait for, and its request comes after theirs: each of them
// holds a thread, and one more is needed.
SimulationSettings latched_until_the_last_request() {
  const load::ClassSpec holder = class_of(
      "holder", {plain(Op::kCommit), wait(100, false), plain(Op::kBegin), latch(Op::kAcquire, 0)},
      1.0);
  load::ClassSpec others = class_of("others", {latch(Op::kAcquire, 0), cpu(10)});
  others.share = 20.0;
  SimulationSettings settings = settings_of({holder, others}, 21);
  settings.queues.discipline = Discipline::kFifo;
  settings.latch_timeout_s = 0.0;
  return settings;
}

// It makes up to 200 ms pass before the next thread, which is twenty ticks.
TEST(SimulatedPool, APoolWhoseNextThreadIsThrottledDoesNotStandStill) {
  SimulationSettings settings = latched_until_the_last_request();
  settings.knobs.group.throttle = ThrottlePolicy::kPercona;
  SimulatedPool pool(settings);
  EXPECT_EQ(deadlock_until(pool, 5.0), "");
  const std::int64_t answered = pool.answered();
  EXPECT_EQ(deadlock_until(pool, 10.0), "");
  EXPECT_GT(pool.answered(), answered);
  EXPECT_GT(pool.snapshot().gauges.at("threads"), 16.0);  // so the longest time was among them
}

TEST(SimulatedPool, AStandstillIsToldByEveryLaterRunUntilOtherKnobsFreeIt) {
  SimulationSettings settings = latched_until_the_last_request();
  settings.knobs.max_threads = 2;
  SimulatedPool pool(settings);
  const std::string text = deadlock_until(pool, 5.0);
  EXPECT_TRUE(text.starts_with("The pool stands still: ")) << text;
  EXPECT_EQ(deadlock_until(pool, 10.0), text);
  EXPECT_LT(pool.now_s(), 5.0);
  const std::int64_t answered = pool.answered();
  PoolKnobs knobs = pool.knobs();
  knobs.prio_kickup_ms = 500;  // which frees nobody
  pool.set_knobs(knobs);
  EXPECT_TRUE(deadlock_until(pool, 10.0).starts_with("The pool stands still: "));
  EXPECT_EQ(pool.answered(), answered);
  knobs.max_threads = 100;
  pool.set_knobs(knobs);
  EXPECT_EQ(deadlock_until(pool, 15.0), "");
  EXPECT_GT(pool.answered(), answered);
}

TEST(SimulatedPool, AStandstillIsTriedAgainUnderAnotherTuple) {
  SimulationSettings settings = latched_until_the_last_request();
  settings.knobs.max_threads = 2;
  SimulatedPool pool(settings);
  EXPECT_NE(deadlock_until(pool, 5.0), "");
  const std::int64_t events = pool.events();
  for (const int timer_interval_ms : {10, 20}) {
    PoolTuple tuple = pool.tuple();
    tuple.timer_interval_ms = timer_interval_ms;
    pool.set_tuple(tuple);
    EXPECT_TRUE(deadlock_until(pool, 10.0).starts_with("The pool stands still: "));
  }
  EXPECT_GT(pool.events(), events + 20);  // ticks of the first and the second
}

TEST(SimulatedPool, TheClockEndsAfter146Years) {
  SimulatedPool pool(settings_of({class_of("all", {cpu(100)})}, 1));
  EXPECT_THROW(pool.run({.until_s = 9.3e9}), std::overflow_error);
  EXPECT_EQ(pool.now_s(), 0.0);
  EXPECT_TRUE(pool.run({.until_s = 0.1}));
  EXPECT_EQ(pool.now_s(), 0.1);
}

// A day in the mean, a million times as long.
TEST(SimulatedPool, APauseLongerThanTheClockDoesNotEnd) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(1)}, 86.4e6)}, 20);
  settings.load.changes = {{0.0, {}, {}, 1e6, {}}};
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1.0;
  limits.events = 10'000;  // so that one that comes back at once is found
  EXPECT_TRUE(pool.run(limits));
  EXPECT_EQ(pool.sent(), 20);
  EXPECT_EQ(pool.now_s(), 1.0);
}

TEST(SimulatedPool, LatchTimeoutFailsTheRequestAndGoesOn) {
  const SimulationSettings settings = opposite_latches(0.01);
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1.0;
  pool.run(limits);
  EXPECT_GT(counter(pool, "failed"), 10.0);
  EXPECT_GT(counter(pool, "completed"), 10.0);
}

// Eight connections that hold a latch for 30 ms each: every turn comes round after 240 ms.
TEST(SimulatedPool, SleepersForALatchTakeTurnsHoweverLongTheyWait) {
  SimulationSettings settings = settings_of(
      {class_of("all", {latch(Op::kAcquire, 1), wait(30'000, false), latch(Op::kRelease, 1)})}, 8);
  settings.tuple.pool_size = 8;
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1.0;
  pool.run(limits);
  const HistogramCounts before = pool.snapshot().histograms.at("latency_us/all");
  limits.until_s = 20.0;
  pool.run(limits);
  const HistogramCounts after = pool.snapshot().histograms.at("latency_us/all");
  const auto buckets = [&] {
    std::size_t used = 0;
    for (std::size_t i = 0; i < after.counts.size(); ++i) {
      if (after.counts[i] != before.counts[i]) ++used;
    }
    return used;
  };
  EXPECT_NEAR((after.total - before.total) / 633.0, 240e3, 2e3);
  EXPECT_EQ(buckets(), 1U);
}

TEST(SimulatedPool, SleeperThatLosesTheLatchAgainStillTimesOut) {
  // One transaction takes the latch for good; the others must fail one after another, none may
  // hang.
  SimulationSettings settings =
      settings_of({class_of("holder", {plain(Op::kBegin), latch(Op::kAcquire, 0)}, 1e7),
                   class_of("spinners", {latch(Op::kAcquire, 0, 50), cpu(30)}, 1.0)},
                  12);
  settings.tuple.pool_size = 12;
  settings.latch_timeout_s = 0.01;
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1.0;
  pool.run(limits);
  const double failed = counter(pool, "failed");
  limits.until_s = 2.0;
  pool.run(limits);
  EXPECT_GT(counter(pool, "failed"), failed + 100.0);
}

TEST(SimulatedPool, TransactionThatNeverEndsIsAStandstill) {
  SimulationSettings settings =
      settings_of({class_of("holder", {plain(Op::kBegin), latch(Op::kAcquire, 0)}, 1e7),
                   class_of("others", {wait(500, false), latch(Op::kAcquire, 0)})},
                  3);
  settings.load.changes = {{0.5, {}, 0, {}, {}}};
  settings.tuple.pool_size = 3;
  settings.latch_timeout_s = 0.0;
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1e5;
  EXPECT_THROW(pool.run(limits), Deadlock);
}

TEST(SimulatedPool, SurplusThreadsEndAfterTheirIdleTime) {
  SimulationSettings settings = settings_of({class_of("all", {wait(3'000, true)})}, 16);
  settings.tuple.idle_timeout_s = 0.1;
  settings.load.changes = {{1.0, {}, 1, {}, {}}};
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 0.9;
  pool.run(limits);
  const double busy = pool.snapshot().gauges.at("threads");
  limits.until_s = 3.0;
  pool.run(limits);
  EXPECT_GT(busy, 8.0);
  EXPECT_LE(pool.snapshot().gauges.at("threads"), 3.0);
}

// Requests sent in half a second by a thousand connections that send one each, over 0.2 s.
std::int64_t sent_under(const std::vector<LoadChange>& changes) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(1)}, 1e7)}, 1'000);
  settings.load.ramp_s = 0.2;
  settings.load.changes = changes;
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 0.5;
  pool.run(limits);
  return pool.sent();
}

TEST(SimulatedPool, WhoIsSilencedBeforeItsFirstRequestSendsNone) {
  EXPECT_EQ(sent_under({}), 1'000);
  EXPECT_EQ(sent_under({{0.0, {}, 1, {}, {}}}), 1);
  EXPECT_EQ(sent_under({{0.0999, {}, 1, {}, {}}}), 500);
}

TEST(SimulatedPool, WhoIsSilencedBeforeItsFirstRequestSendsItOnceItMay) {
  EXPECT_EQ(sent_under({{0.0, {}, 1, {}, {}}, {0.1, {}, 1'000, {}, {}}}), 1'000);
  EXPECT_EQ(sent_under({{0.0, {}, 1, {}, {}}, {0.4, {}, 1'000, {}, {}}}), 1'000);
  EXPECT_EQ(sent_under({{0.0, {}, 1, {}, {}}, {0.4, {}, 10, {}, {}}}), 10);
}

TEST(SimulatedPool, WhoIsSilencedInAPauseSendsNoMore) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(1)}, 100.0)}, 1'000);
  settings.load.changes = {{1.0, {}, 0, {}, {}}};
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1.01;
  pool.run(limits);
  const std::int64_t sent = pool.sent();
  limits.until_s = 3.0;
  pool.run(limits);
  EXPECT_EQ(pool.sent(), sent);
  EXPECT_EQ(pool.in_flight(), 0);
}

TEST(SimulatedPool, OpenLoopAnswersWhatArrivesAndCountsItsBacklog) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(1'000)})}, 4);
  settings.machine.cpus = 1;
  settings.load.rate_per_s = 300.0;
  settings.load.changes = {{10.0, 5'000.0, {}, {}, {}}};
  SimulatedPool pool(settings);
  EXPECT_NEAR(throughput_per_s(pool, 1.0, 9.0), 300.0, 20.0);
  EXPECT_LT(throughput_per_s(pool, 11.0, 1.0), 1'000.0);
  const HistogramCounts latency = pool.snapshot().histograms.at("latency_us/all");
  EXPECT_GT(latency.total, 0.0);
}

TEST(SimulatedPool, ChangedSharesChangeTheMix) {
  SimulationSettings settings =
      settings_of({class_of("a", {cpu(100)}), class_of("b", {cpu(100)})}, 8);
  settings.load.changes = {{1.0, {}, {}, {}, {0.0, 1.0}}};
  SimulatedPool pool(settings);
  RunLimits limits;
  limits.until_s = 1.01;
  pool.run(limits);
  const auto count = [&pool](const std::string& name) {
    double sum = 0.0;
    const HistogramCounts latency = pool.snapshot().histograms.at("latency_us/" + name);
    for (const std::int64_t one : latency.counts) sum += static_cast<double>(one);
    return sum;
  };
  const double a = count("a");
  const double b = count("b");
  limits.until_s = 2.0;
  pool.run(limits);
  EXPECT_GT(a, 0.0);
  EXPECT_LE(count("a"), a + 8.0);
  EXPECT_GT(count("b"), 1.5 * b);
}

struct BadSetting {
  const char* name;
  void (*spoil)(SimulationSettings&);
};

class BadSettingTest : public testing::TestWithParam<BadSetting> {};

TEST_P(BadSettingTest, IsRefusedByName) {
  SimulationSettings settings = settings_of({class_of("all", {cpu(100)})}, 2);
  GetParam().spoil(settings);
  try {
    const SimulatedPool pool(settings);
    FAIL() << GetParam().name << " was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().name), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, BadSettingTest,
    testing::Values(BadSetting{"cpus", [](auto& s) { s.machine.cpus = 0; }},
                    BadSetting{"overhead_us", [](auto& s) { s.machine.overhead_us = NAN; }},
                    BadSetting{"wake_us", [](auto& s) { s.machine.wake_us = -1; }},
                    BadSetting{"cache_loss",
                               [](auto& s) { s.machine.contention.cache_loss = INFINITY; }},
                    BadSetting{"seed_loss", [](auto& s) { s.machine.contention.seed_loss = 2; }},
                    BadSetting{"connections", [](auto& s) { s.load.connections = 70'000; }},
                    BadSetting{"rate_per_s", [](auto& s) { s.load.rate_per_s = 0.0; }},
                    BadSetting{"us", [](auto& s) { s.load.classes[0].steps[0].us = -3; }},
                    BadSetting{"at_s", [](auto& s) { s.load.changes = {{-1, {}, {}, {}, {}}}; }},
                    BadSetting{"pool_size", [](auto& s) { s.tuple.pool_size = 0; }}));

}  // namespace
}  // namespace poolpilot::sim
