#include "queues/two_level_queue.hpp"

#include <gtest/gtest.h>

namespace poolpilot {
namespace {

TEST(TwoLevelQueue, HighGoesFirstAndEachLevelIsFifo) {
  TwoLevelQueue<int> queue;
  queue.put(1, Priority::kLow, 0);
  queue.put(2, Priority::kHigh, 0);
  queue.put(3, Priority::kLow, 0);
  queue.put(4, Priority::kHigh, 0);
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue.take(), 2);
  EXPECT_EQ(queue.take(), 4);
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.take(), 3);
  EXPECT_TRUE(queue.empty());
}

TEST(TwoLevelQueue, OldLowItemsAreKickedUpBehindTheHighOnes) {
  TwoLevelQueue<int> queue;
  queue.put(1, Priority::kLow, 0);
  queue.put(2, Priority::kLow, 500);
  queue.put(3, Priority::kHigh, 900);
  queue.kick_up(1'000, 999);
  queue.put(4, Priority::kHigh, 1'000);
  EXPECT_EQ(queue.take(), 3);
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.take(), 4);
  EXPECT_EQ(queue.take(), 2);
}

TEST(TwoLevelQueue, ItemsStayUntilTheirTimeIsOver) {
  TwoLevelQueue<int> queue;
  queue.put(1, Priority::kLow, 0);
  queue.put(2, Priority::kHigh, 0);
  queue.kick_up(1'000, 1'000);
  queue.put(3, Priority::kHigh, 1'000);
  EXPECT_EQ(queue.take(), 2);
  EXPECT_EQ(queue.take(), 3);
  EXPECT_EQ(queue.take(), 1);
}

}  // namespace
}  // namespace poolpilot
