#include "live/latch.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "live/clock.hpp"

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

TEST(Latch, SleeperGivesUpAtItsDeadlineAndWhenTheServerStops) {
  Latch latch;
  int holder = 0;
  int sleeper = 0;
  std::atomic<bool> stopping{false};
  ASSERT_TRUE(latch.try_acquire(&holder));
  EXPECT_FALSE(latch.acquire_sleeping(&sleeper, now_ns() + 1'000'000, stopping));
  stopping = true;
  EXPECT_FALSE(latch.acquire_sleeping(&sleeper, now_ns() + kLongNs, stopping));
}

TEST(Latch, ManyThreadsExcludeEachOtherAndNoWakeIsLost) {
  Latch latch;
  const std::atomic<bool> stopping{false};
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
          ASSERT_TRUE(latch.acquire_sleeping(&self, now_ns() + kLongNs, stopping));
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
