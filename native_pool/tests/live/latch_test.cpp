#include "live/latch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "system/clock.hpp"
#include "tests/live/small_pool.hpp"

namespace poolpilot {
namespace {

constexpr std::int64_t kLongNs = 60'000'000'000;

TEST(Latch, IsExclusiveAndItsOwnerMayTakeItAgain) {
  Latch latch;
  int one = 0;
  int two = 0;
  EXPECT_TRUE(latch.try_acquire(&one));
  EXPECT_TRUE(latch.try_acquire(&one));
  EXPECT_FALSE(latch.try_acquire(&two));
  latch.release(&two);  // not the owner: nothing happens
  EXPECT_FALSE(latch.try_acquire(&two));
  latch.release(&one);
  EXPECT_TRUE(latch.try_acquire(&two));
}

TEST(Latch, SleeperGivesUpAtItsDeadline) {
  Latch latch;
  int holder = 0;
  int sleeper = 0;
  ASSERT_TRUE(latch.try_acquire(&holder));
  EXPECT_FALSE(latch.acquire_sleeping(&sleeper, now_ns() + 1'000'000));
  EXPECT_EQ(latch.sleepers(), 0U);
}

TEST(Latch, StopSendsSleepersAwayAndLetsNobodySleep) {
  Latch latch;
  int holder = 0;
  int sleeper = 0;
  ASSERT_TRUE(latch.try_acquire(&holder));
  std::jthread thread([&] { EXPECT_FALSE(latch.acquire_sleeping(&sleeper, now_ns() + kLongNs)); });
  ASSERT_TRUE(eventually([&] { return latch.sleepers() == 1; }));
  latch.stop();
  thread.join();
  EXPECT_FALSE(latch.acquire_sleeping(&sleeper, now_ns() + kLongNs));
}

// However long they have slept.
TEST(Latch, SleepersTakeTheirTurnsInTheOrderOfTheirArrival) {
  Latch latch;
  int holder = 0;
  ASSERT_TRUE(latch.try_acquire(&holder));
  std::vector<std::size_t> turns;  // guarded by the latch
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      int self = 0;
      ASSERT_TRUE(latch.acquire_sleeping(&self, now_ns() + kLongNs));
      turns.push_back(i);
      latch.release(&self);
    });
    ASSERT_TRUE(eventually([&] { return latch.sleepers() == i + 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(95));
  latch.release(&holder);
  for (std::jthread& thread : threads) thread.join();
  EXPECT_EQ(turns, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Latch, ManyThreadsExcludeEachOtherAndNoWakeIsLost) {
  Latch latch;
  constexpr int kThreads = 8;
  constexpr int kRounds = 2'000;
  int shared = 0;  // a data race unless the latch excludes
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        int self = 0;
        for (int round = 0; round < kRounds; ++round) {
          const Latch::Waiting waiting(latch);
          ASSERT_TRUE(latch.acquire_sleeping(&self, now_ns() + kLongNs));
          ++shared;
          latch.release(&self);
        }
      });
    }
  }
  EXPECT_EQ(shared, kThreads * kRounds);
  EXPECT_EQ(latch.waiters(), 0);
}

}  // namespace
}  // namespace poolpilot
