// The stall timer runs free, live and simulated: only a new interval arms it anew, as in MariaDB.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot {
namespace {

// When the timer looked after the first group.
std::vector<std::int64_t> ticks_us(const auto& logs) {
  std::vector<std::int64_t> times;
  for (const EventLog::Entry& entry : logs.front().entries) {
    if (entry.event.kind == EventKind::kTick) times.push_back(entry.event.now_us);
  }
  return times;
}

TEST(LiveTimer, TicksWhileEverythingButItsIntervalChanges) {
  LivePoolSettings settings = small_pool();
  settings.tuple = {1, 3, 100, true, 60.0};
  LivePool pool(settings);
  pool.start();
  const LiveClient client(pool.address());
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1'100);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    pool.set_tuple({1 + i % 4, 1 + i % 3, 100, i % 2 == 0, 60.0 - i % 2});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  pool.close();
  // Ten, unless the machine has other things to do.
  EXPECT_GE(ticks_us(pool.event_logs()).size(), 4U);
}

TEST(LiveTimer, ANewIntervalDoesNotWaitForTheOldOne) {
  LivePoolSettings settings = small_pool();
  settings.tuple.timer_interval_ms = 60'000;
  LivePool pool(settings);
  pool.start();
  const LiveClient client(pool.address());
  ASSERT_TRUE(client.call(1, {silent(1)}).has_value());
  PoolTuple tuple = settings.tuple;
  tuple.timer_interval_ms = 5;
  pool.set_tuple(tuple);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  pool.close();
  EXPECT_GE(ticks_us(pool.event_logs()).size(), 2U);
}

class SimulatedTimer : public testing::Test {
 protected:
  SimulatedTimer() : pool(settings()) {}

  static sim::SimulationSettings settings() {
    auto made = sim::settings_of({sim::class_of("all", {sim::wait(2'000, false)})}, 4);
    made.tuple = {1, 3, 500, true, 60.0};
    return made;
  }

  void run_until(double seconds) {
    sim::RunLimits limits;
    limits.until_s = seconds;
    pool.run(limits);
  }

  sim::SimulatedPool pool;
};

TEST_F(SimulatedTimer, TicksTwiceASecondWhileTheSizeChangesEveryTenth) {
  for (int i = 1; i <= 101; ++i) {
    run_until(0.1 * i);
    pool.set_tuple({1 + i % 2, 3, 500, true, 60.0});
  }
  EXPECT_EQ(ticks_us(pool.event_logs()).size(), 20U);
}

TEST_F(SimulatedTimer, ANewIntervalArmsItAnew) {
  run_until(0.25);
  pool.set_tuple({1, 3, 100, true, 60.0});
  run_until(0.5);
  pool.set_tuple({1, 3, 500, true, 60.0});
  run_until(1.1);
  const std::vector<std::int64_t> ticks = ticks_us(pool.event_logs());
  ASSERT_EQ(ticks.size(), 3U);
  EXPECT_NEAR(static_cast<double>(ticks[0]), 350e3, 1e3);
  EXPECT_NEAR(static_cast<double>(ticks[1]), 450e3, 1e3);
  EXPECT_NEAR(static_cast<double>(ticks[2]), 1'000e3, 1e3);
}

}  // namespace
}  // namespace poolpilot
