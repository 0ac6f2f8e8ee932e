#include "live/thread_registry.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include "system/clock.hpp"
#include "tests/live/small_pool.hpp"

namespace poolpilot {
namespace {

constexpr std::size_t kClassNames = 2;

std::int64_t count(const HistogramCounts& counts) {
  return std::accumulate(counts.counts.begin(), counts.counts.end(), std::int64_t{0});
}

std::int64_t count(const WorkerTotals& totals, Timing timing) {
  return count(totals.timings.at(static_cast<std::size_t>(timing)));
}

// What a thread counts for one request.
void count_one(WorkerStats& stats) {
  stats.counters.completed.add();
  stats.record(Timing::kQueueWait, 7);
  stats.record(latency_of(1), 5'000'000'000'000);  // longer than the buffer can tell
}

TEST(ThreadRegistry, CountsWhatAThreadHasDoneSoFarAndInTheEnd) {
  ThreadRegistry registry({}, kClassNames);
  std::latch counted(1);
  std::latch go_on(1);
  constexpr int kRequests = 1'000;  // fill the buffer many times, and not to its end
  ASSERT_TRUE(registry.start([&](WorkerStats& stats) {
    for (int i = 0; i < kRequests; ++i) count_one(stats);
    counted.count_down();
    go_on.wait();
  }));
  counted.wait();
  const auto expect_all = [&] {
    const WorkerTotals totals = registry.totals();
    EXPECT_EQ(totals.counters.completed.value(), kRequests);
    EXPECT_EQ(count(totals, Timing::kQueueWait), kRequests);
    EXPECT_EQ(totals.timings.at(0).total, 7.0 * kRequests);
    EXPECT_EQ(count(totals, latency_of(1)), kRequests);
    EXPECT_EQ(count(totals, Timing::kThink), 0);
    EXPECT_EQ(count(totals.create_us), 1);
    EXPECT_GT(totals.cpu_ns, 0);
  };
  EXPECT_EQ(registry.running(), 1);
  expect_all();
  go_on.count_down();
  ASSERT_TRUE(eventually([&] { return registry.running() == 0; }));
  expect_all();
  registry.join_all();
  expect_all();
}

// As a thread that takes the time at which its turn ends, and is preempted before it stores it.
TEST(ThreadRegistry, TimeAtWorkNeverFallsWhereATurnEndsInThePast) {
  ThreadRegistry registry({}, kClassNames);
  std::latch ended(1);
  std::latch looked(1);
  std::latch stored(1);
  std::latch go_on(1);
  ASSERT_TRUE(registry.start([&](WorkerStats& stats) {
    stats.active.begin(now_ns());
    const std::int64_t ended_ns = now_ns();
    ended.count_down();
    looked.wait();
    stats.active.end(ended_ns);
    stored.count_down();
    go_on.wait();
  }));
  ended.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::int64_t told_ns = registry.totals().active_ns;
  EXPECT_GT(told_ns, 1'000'000);
  looked.count_down();
  stored.wait();
  EXPECT_GE(registry.totals().active_ns, told_ns);
  go_on.count_down();
  registry.join_all();
  EXPECT_GE(registry.totals().active_ns, told_ns);
}

TEST(ThreadRegistry, AClassWithoutANameHasNoLatencies) {
  ThreadRegistry registry({}, kClassNames);
  registry.start([](WorkerStats& stats) { stats.record(latency_of(kClassNames), 1); });
  registry.join_all();
  const WorkerTotals totals = registry.totals();
  EXPECT_EQ(totals.timings.size(), kTimings + kClassNames);
  for (const HistogramCounts& counts : totals.timings) EXPECT_EQ(count(counts), 0);
}

TEST(ThreadRegistry, TotalsNeverFallWhileThreadsComeAndGo) {
  ThreadRegistry registry({}, kClassNames);
  constexpr int kThreads = 400;
  constexpr int kRequests = 200;
  std::atomic<bool> over{false};
  std::thread watcher([&] {
    WorkerTotals before = registry.totals();
    while (!over) {
      const WorkerTotals now = registry.totals();
      EXPECT_GE(now.counters.completed.value(), before.counters.completed.value());
      EXPECT_GE(count(now, Timing::kQueueWait), count(before, Timing::kQueueWait));
      EXPECT_GE(count(now.create_us), count(before.create_us));
      EXPECT_GE(now.cpu_ns, before.cpu_ns);
      before = now;
    }
  });
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(registry.start([](WorkerStats& stats) {
      for (int request = 0; request < kRequests; ++request) count_one(stats);
    }));
  }
  registry.join_all();
  over = true;
  watcher.join();
  const WorkerTotals totals = registry.totals();
  EXPECT_EQ(totals.counters.completed.value(), kThreads * kRequests);
  EXPECT_EQ(count(totals, Timing::kQueueWait), kThreads * kRequests);
  EXPECT_EQ(count(totals.create_us), kThreads);
  EXPECT_EQ(registry.running(), 0);
}

}  // namespace
}  // namespace poolpilot
