#include "queues/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace poolpilot {
namespace {

TEST(Ring, KeepsTheOrderOfADequeWhileItGrowsAndWraps) {
  std::mt19937 random(1);
  Ring<int> ring;
  std::deque<int> wanted;
  for (int i = 0; i < 10'000; ++i) {
    if (wanted.empty() || random() % 5 < 3) {
      ring.push_back(i);
      wanted.push_back(i);
    } else {
      ASSERT_EQ(ring.front(), wanted.front());
      ring.pop_front();
      wanted.pop_front();
    }
    ASSERT_EQ(ring.size(), wanted.size());
    ASSERT_EQ(ring.empty(), wanted.empty());
  }
}

TEST(Ring, IsEmptyAfterClear) {
  Ring<int> ring;
  for (int i = 0; i < 20; ++i) ring.push_back(i);
  ring.pop_front();
  ring.clear();
  EXPECT_TRUE(ring.empty());
  ring.push_back(7);
  EXPECT_EQ(ring.front(), 7);
}

}  // namespace
}  // namespace poolpilot
