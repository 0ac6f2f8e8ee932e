// What every connection handler of the simulator does, and where they differ.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/live/every_handler.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot::sim {
namespace {

class SimulatedHandler : public testing::TestWithParam<HandlerKind> {
 protected:
  static SimulationSettings with_handler(SimulationSettings settings) {
    settings.handling.handler = GetParam();
    return settings;
  }

  // A bit of everything, for laws that hold whatever is simulated.
  static SimulationSettings mixed(std::uint64_t seed) {
    SimulationSettings settings = settings_of(
        {class_of("cpu", {cpu(300, 1.0)}, 1.0), class_of("silent", {cpu(50), wait(900, false)}),
         class_of("reported", {cpu(50), wait(700, true, WaitKind::kDiskIo)}),
         class_of("locked", {latch(Op::kAcquire, 1, 0, 5.0), cpu(80), latch(Op::kRelease, 1)}),
         class_of("transaction", {plain(Op::kBegin), latch(Op::kAcquire, 2), cpu(30)}),
         class_of("commit", {latch(Op::kAcquire, 2), cpu(30), plain(Op::kCommit)})},
        48);
    settings.load.seed = seed;
    settings.tuple.pool_size = 3;
    settings.latch_timeout_s = 0.05;
    return with_handler(settings);
  }
};

INSTANTIATE_TEST_SUITE_P(Handlers, SimulatedHandler, all_handlers(),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(SimulatedHandler, LosesNoRequestWhileThePoolSizeChanges) {
  SimulatedPool pool(mixed(1));
  for (int step = 1; step <= 40; ++step) {
    RunLimits limits;
    limits.until_s = 0.05 * step;
    ASSERT_TRUE(pool.run(limits));
    pool.set_tuple({1 + step % 5, 3, 10, true, 0.02});
    EXPECT_EQ(counter(pool, "completed") + counter(pool, "failed") +
                  static_cast<double>(pool.in_flight()),
              static_cast<double>(pool.sent()));
    EXPECT_LE(pool.in_flight(), 48);
    const PoolSnapshot snapshot = pool.snapshot();
    EXPECT_LE(snapshot.gauges.at("active_threads"), snapshot.gauges.at("threads"));
    EXPECT_LE(snapshot.counters.at("active_thread_us"), snapshot.counters.at("thread_us"));
  }
  EXPECT_GT(counter(pool, "completed"), 1'000);
}

TEST_P(SimulatedHandler, SameSeedIsTheSameRunHoweverItIsCutIntoSlices) {
  SimulatedPool whole(mixed(5));
  SimulatedPool sliced(mixed(5));
  RunLimits limits;
  limits.until_s = 0.5;
  whole.run(limits);
  limits.events = 97;
  while (!sliced.run(limits)) {
  }
  EXPECT_EQ(whole.snapshot().counters, sliced.snapshot().counters);
  EXPECT_EQ(whole.events(), sliced.events());
}

TEST_P(SimulatedHandler, OneConnectionTakesTheTimeOfItsParts) {
  SimulationSettings settings =
      with_handler(settings_of({class_of("all", {cpu(100), wait(200, false)})}, 1));
  settings.machine.overhead_us = 10;
  settings.machine.wake_us = 5;
  settings.machine.wake_cost_us = 2;
  settings.machine.client_us = 3;
  SimulatedPool pool(settings);
  // One thread is woken and serves by itself; after the wait it pays for its wake-up once more.
  const double cycle_us = 3 + 5 + 2 + 10 + 100 + 200 + 2;
  EXPECT_NEAR(throughput_per_s(pool, 0.1, 1.0), 1e6 / cycle_us, 2.0);
}

TEST(SimulatedPerConnection, ServesAllAtOnceWhateverTheTuple) {
  SimulationSettings settings = settings_of({class_of("all", {wait(1'000, false)})}, 50);
  settings.handling.handler = HandlerKind::kPerConnection;
  SimulatedPool pool(settings);
  const double alone_us = 1'000 + settings.machine.wake_us;
  const double per_s = throughput_per_s(pool, 0.1, 1.0);
  EXPECT_GT(per_s, 0.5 * 50 * 1e6 / alone_us);
  EXPECT_EQ(pool.snapshot().gauges.at("threads"), 50);
  EXPECT_EQ(counter(pool, "thread_creations"), 50);
  pool.set_tuple({7, 1, 5, false, 0.02});
  EXPECT_NEAR(throughput_per_s(pool, 1.2, 1.0), per_s, 0.01 * per_s);
}

SimulationSettings hybrid(int connections, int max_threads) {
  SimulationSettings settings =
      settings_of({class_of("all", {cpu(50, 1.0), wait(500, false)})}, connections);
  settings.handling.handler = HandlerKind::kHybrid;
  settings.handling.hybrid = {max_threads, 1, 20, 0};
  return settings;
}

void run_until(SimulatedPool& pool, double seconds) {
  RunLimits limits;
  limits.until_s = seconds;
  pool.run(limits);
}

TEST(SimulatedHybrid, UpToSoManyConnectionsEachHasAThreadOfItsOwn) {
  SimulatedPool pool(hybrid(4, 4));
  run_until(pool, 0.5);
  EXPECT_EQ(counter(pool, "hand_overs_to_own_socket"), 4);
  EXPECT_EQ(counter(pool, "dequeues_worker"), 4);  // their logins
  EXPECT_EQ(pool.snapshot().gauges.at("threads"), 4);
}

TEST(SimulatedHybrid, MoreShareTheThreads) {
  SimulatedPool pool(hybrid(9, 4));
  run_until(pool, 0.5);
  EXPECT_EQ(pool.snapshot().gauges.at("threads"), 4);
  EXPECT_GE(counter(pool, "dequeues_worker"), counter(pool, "completed"));
  EXPECT_EQ(counter(pool, "queue_length_us"), 0);
}

TEST(SimulatedHybrid, ThePoolSizeHandsOverInBothDirections) {
  SimulatedPool pool(hybrid(12, 4));
  run_until(pool, 0.5);
  PoolTuple tuple = pool.tuple();
  tuple.pool_size = 3;
  pool.set_tuple(tuple);
  run_until(pool, 1.0);
  EXPECT_EQ(pool.snapshot().gauges.at("threads"), 3 * 4);
  const double taken = counter(pool, "dequeues_worker");
  run_until(pool, 1.5);
  EXPECT_EQ(counter(pool, "dequeues_worker"), taken);
  const double to_epoll = counter(pool, "hand_overs_to_epoll");
  tuple.pool_size = 1;
  pool.set_tuple(tuple);
  run_until(pool, 2.0);
  EXPECT_GE(counter(pool, "hand_overs_to_epoll"), to_epoll + 4);
  const double answered = counter(pool, "completed");
  const double taken_before = counter(pool, "dequeues_worker");
  run_until(pool, 2.5);
  EXPECT_NEAR(counter(pool, "dequeues_worker") - taken_before,
              counter(pool, "completed") - answered, 12);
}

TEST(SimulatedHybrid, ConnectionsWhoseTurnsAreShortShareAFewThreads) {
  SimulationSettings settings = hybrid(4, 8);
  settings.load.classes = {class_of("all", {cpu(20, 0.0)})};
  settings.load.classes[0].think_ms = 1.0;
  settings.machine.cpus = 1;
  SimulatedPool apart(settings);
  settings.handling.hybrid.share_below_us = 1000;
  SimulatedPool shared(settings);
  run_until(apart, 1.0);
  run_until(shared, 1.0);
  EXPECT_EQ(apart.snapshot().gauges.at("threads"), 5);
  EXPECT_LT(shared.snapshot().gauges.at("threads"), 4);
  EXPECT_EQ(counter(shared, "hand_overs_to_own_socket"), counter(shared, "hand_overs_to_epoll"));
  EXPECT_NEAR(counter(shared, "completed"), counter(apart, "completed"),
              0.05 * counter(apart, "completed"));
}

TEST(SimulatedHybrid, ATurnIsNoLongerForThoseThatHadTheProcessorMeanwhile) {
  SimulationSettings settings = hybrid(16, 16);
  settings.load.classes = {class_of("all", {cpu(50, 0.0)})};
  settings.tuple.timer_interval_ms = 10;
  settings.handling.hybrid.share_below_us = 100;
  SimulatedPool pool(settings);
  run_until(pool, 1.0);
  EXPECT_EQ(counter(pool, "hand_overs_to_own_socket"), counter(pool, "hand_overs_to_epoll"));
  EXPECT_LT(pool.snapshot().gauges.at("threads"), 8);
}

// Many give each a thread of its own again, and the few are noticed.
TEST(SimulatedHybrid, SilentSleepersHoldNobodyUp) {
  for (const double others : {1.0, 5'000.0}) {
    SimulationSettings settings = hybrid(16, 16);
    settings.load.classes = {class_of("short", {cpu(50, 0.0)}, 1.0),
                             class_of("asleep", {wait(20'000, false)})};
    settings.load.classes[0].share = others;
    SimulatedPool apart(settings);
    settings.handling.hybrid.share_below_us = 1'000'000;
    SimulatedPool shared(settings);
    run_until(apart, 5.0);
    run_until(shared, 5.0);
    EXPECT_GT(counter(shared, "hand_overs_to_epoll"), others > 1.0 ? 0.0 : -1.0);
    EXPECT_GT(counter(shared, "completed"), 0.9 * counter(apart, "completed"));
  }
}

TEST(SimulatedHybrid, ThreadsThatWaitInVainEnd) {
  SimulationSettings settings = hybrid(30, 8);
  settings.load.changes = {{0.5, std::nullopt, 0, std::nullopt, {}}};
  settings.tuple.idle_timeout_s = 1.0;
  SimulatedPool pool(settings);
  run_until(pool, 0.5);
  EXPECT_EQ(pool.snapshot().gauges.at("threads"), 8);
  run_until(pool, 5.0);
  EXPECT_EQ(pool.snapshot().gauges.at("threads"), 1);  // the connections are there still
}

TEST(SimulatedHybrid, OneThreadMoreWhereAllWaitForLocks) {
  // Each connection's transaction holds the latch until its next request, so that with two threads
  // both soon wait for one whose connection has none.
  SimulationSettings settings = hybrid(6, 2);
  settings.load.classes = {class_of("held", {plain(Op::kBegin), latch(Op::kAcquire, 1), cpu(10)}),
                           class_of("waiting", {latch(Op::kAcquire, 1), cpu(10)})};
  for (load::ClassSpec& one : settings.load.classes) {
    for (load::StepSpec& step : one.steps) step.reported = step.op == Op::kAcquire;
  }
  settings.latch_timeout_s = 60.0;
  SimulatedPool pool(settings);
  run_until(pool, 0.5);
  const double answered = counter(pool, "completed");
  run_until(pool, 1.0);
  EXPECT_GT(counter(pool, "completed"), answered);
  EXPECT_GT(pool.snapshot().gauges.at("threads"), 2);
}

}  // namespace
}  // namespace poolpilot::sim
