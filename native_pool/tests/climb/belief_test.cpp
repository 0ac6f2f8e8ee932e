// Probabilistic bisection: does the belief gather where the optimum is?
#include "climb/belief.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace poolpilot {
namespace {

TEST(Belief, KnowsNothingAtFirstSoThatEveryFactorIsAsLikely) {
  const Belief belief({.min = 1, .max = 1024}, 512);
  EXPECT_NEAR(std::log2(belief.median()), 5.0, 0.3);
  EXPECT_EQ(belief.quantile(0.0), 1);
  EXPECT_EQ(belief.quantile(1.0), 1024);
}

TEST(Belief, HoldsEverySmallSizeAndFindsEachOfThem) {
  for (int optimum = 1; optimum <= 100; ++optimum) {
    Belief belief({.min = 1, .max = 1000}, 512);
    for (int i = 0; i < 24; ++i) {
      const int low = std::max(belief.median() - i % 2, 1);
      belief.tell(low, low + 1, optimum > low ? 0.99 : 0.01);
    }
    EXPECT_EQ(belief.median(), optimum);
  }
}

TEST(Belief, OutlivesWavesThatWereMisread) {
  std::mt19937_64 random(1);
  int near = 0;
  for (int run = 0; run < 50; ++run) {
    Belief belief({.min = 1, .max = 512}, 512);
    for (int i = 0; i < 100; ++i) {
      const int low = std::min(belief.median(), 511);
      const bool misread = random() % 5 == 0;
      belief.tell(low, low + 1, (200 > low) != misread ? 0.8 : 0.2);
    }
    if (std::abs(belief.median() - 200) <= 20) ++near;
  }
  EXPECT_GE(near, 45);
}

TEST(Belief, WaveAcrossTheOptimumDoesNotDecideWhatLiesInside) {
  Belief belief({.min = 1, .max = 64}, 512);
  belief.tell(8, 32, 0.01);
  EXPECT_GT(belief.quantile(0.95), 8);
  EXPECT_LT(belief.median(), 8);
}

TEST(Belief, ExcludedSizesStayExcluded) {
  Belief belief({.min = 1, .max = 64}, 512);
  belief.exclude_above(10);
  for (int i = 0; i < 20; ++i) belief.tell(8, 9, 0.99);
  EXPECT_EQ(belief.quantile(1.0), 10);
  EXPECT_EQ(belief.limits().max, 10);
  belief.forget();
  EXPECT_EQ(belief.limits().max, 64);
}

TEST(Belief, ExpectationIsNearButNotCertain) {
  Belief belief({.min = 1, .max = 1024}, 512);
  belief.expect(100, 2.0);
  EXPECT_NEAR(belief.median(), 100, 5);
  EXPECT_GT(belief.quantile(0.05), 10);
  for (int i = 0; i < 10; ++i) belief.tell(500, 510, 0.99);
  EXPECT_GT(belief.median(), 500);
}

TEST(Belief, OneSizeIsCertain) {
  const Belief belief({.min = 7, .max = 7}, 512);
  EXPECT_EQ(belief.median(), 7);
}

}  // namespace
}  // namespace poolpilot
