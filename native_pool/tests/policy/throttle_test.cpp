#include "policy/throttle.hpp"

#include <gtest/gtest.h>

namespace poolpilot {
namespace {

constexpr auto kMariaDb = ThrottlePolicy::kMariaDb;
constexpr auto kPercona = ThrottlePolicy::kPercona;

TEST(Throttle, MariaDbIsOffBelowFiveHundredMilliseconds) {
  for (const int threads : {1, 4, 7, 15, 100}) {
    EXPECT_EQ(throttle_interval_us(kMariaDb, threads, 3, 499), 0) << threads;
  }
  EXPECT_EQ(throttle_interval_us(kMariaDb, 4, 3, 500), 50'000);
}

TEST(Throttle, MariaDbSteps) {
  EXPECT_EQ(throttle_interval_us(kMariaDb, 3, 3, 500), 0);
  EXPECT_EQ(throttle_interval_us(kMariaDb, 7, 3, 500), 50'000);
  EXPECT_EQ(throttle_interval_us(kMariaDb, 8, 3, 500), 100'000);
  EXPECT_EQ(throttle_interval_us(kMariaDb, 15, 3, 500), 100'000);
  EXPECT_EQ(throttle_interval_us(kMariaDb, 16, 3, 500), 20'000);
  EXPECT_EQ(throttle_interval_us(kMariaDb, 10, 10, 500), 0);  // 1 + oversubscribe is not reached
}

TEST(Throttle, PerconaKnowsNeitherFactorNorOversubscribe) {
  EXPECT_EQ(throttle_interval_us(kPercona, 3, 10, 10), 0);
  EXPECT_EQ(throttle_interval_us(kPercona, 4, 10, 10), 50'000);
  EXPECT_EQ(throttle_interval_us(kPercona, 8, 10, 10), 100'000);
  EXPECT_EQ(throttle_interval_us(kPercona, 16, 10, 10), 200'000);
}

}  // namespace
}  // namespace poolpilot
