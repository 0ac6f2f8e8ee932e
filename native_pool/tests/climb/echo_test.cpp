// What a wave's answer says, and how far it can be believed.
#include "climb/echo.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace poolpilot {
namespace {

int size_at(int sample) { return sample / 2 % 2 == 0 ? 100 : 110; }

Echo played(int samples, double elasticity, double noise, unsigned seed) {
  Echo echo{SpectralSettings()};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int i = 0; i < samples; ++i) {
    const double size = size_at(i);
    echo.add(size, 500.0 * std::pow(size / 100.0, elasticity) * (1.0 + noise * normal(random)));
  }
  return echo;
}

TEST(Echo, RatioIsTheElasticityWithItsSign) {
  for (const double elasticity : {-0.8, -0.1, 0.0, 0.3, 1.0}) {
    const Answer answer = played(32, elasticity, 0.0, 1).answer();
    EXPECT_NEAR(answer.ratio, elasticity, 0.003);
    EXPECT_NEAR(answer.error, 0.0, 1e-9);
    EXPECT_EQ(answer.periods, 8);
  }
}

TEST(Echo, ErrorCoversTheRatioAsOftenAsItShould) {
  int covered = 0;
  constexpr int kRuns = 500;
  for (unsigned seed = 1; seed <= kRuns; ++seed) {
    const Answer answer = played(32, 0.4, 0.05, seed).answer();
    if (std::abs(answer.ratio - 0.4) < 2.0 * answer.error) ++covered;
  }
  EXPECT_GE(covered, kRuns * 93 / 100);
  EXPECT_LE(covered, kRuns * 99 / 100);
}

TEST(Echo, AnswerLateByAQuarterPeriodShowsNoTrend) {
  Echo echo{SpectralSettings()};
  for (int i = 0; i < 16; ++i) echo.add(size_at(i), size_at(i + 15));
  EXPECT_NEAR(echo.answer().ratio, 0.0, 1e-12);
}

TEST(Echo, SlowDriftCountsAsNoise) {
  Echo echo{SpectralSettings()};
  for (int i = 0; i < 8; ++i) echo.add(size_at(i), 100.0 + 5.0 * i);
  const Answer answer = echo.answer();
  EXPECT_LT(std::abs(answer.ratio), 2.0 * answer.error);
}

TEST(Echo, OnePeriodAloneHasNoErrorUntilNoiseIsKnown) {
  Echo echo = played(4, 0.4, 0.05, 1);
  EXPECT_TRUE(std::isinf(echo.answer().error));
  echo = played(32, 0.4, 0.05, 1);
  echo.conclude();
  EXPECT_EQ(echo.samples(), 0);
  for (int i = 0; i < 4; ++i) echo.add(size_at(i), 500.0);
  EXPECT_TRUE(std::isfinite(echo.answer().error));
}

TEST(Echo, AWaveJoinsTheNoiseOnce) {
  Echo echo = played(32, 0.4, 0.05, 1);
  const double told = echo.noise_so_far().deviation();
  echo.conclude();
  EXPECT_DOUBLE_EQ(echo.noise_so_far().deviation(), told);
}

TEST(Echo, LatestHalvesAreThoseOfTheLastPeriod) {
  Echo echo{SpectralSettings()};
  for (const double throughput : {1.0, 1.0, 9.0, 9.0, 2.0, 4.0, 6.0, 8.0}) echo.add(1, throughput);
  EXPECT_DOUBLE_EQ(echo.latest_low(), 3.0);
  EXPECT_DOUBLE_EQ(echo.latest_high(), 7.0);
}

TEST(Noise, FewDegreesOfFreedomWidenTheError) {
  const Noise few = Noise().with(0.01, 4.0, 64.0);
  const Noise many = Noise().with(0.01, 64.0, 64.0);
  EXPECT_DOUBLE_EQ(few.deviation(), 0.1);
  EXPECT_GT(few.ratio_error(32.0, 0.1), 1.2 * many.ratio_error(32.0, 0.1));
}

TEST(Noise, FollowsANoiseThatHasChanged) {
  Noise noise;
  for (int window = 0; window < 20; ++window) noise = noise.with(0.01, 16.0, 64.0);
  for (int window = 0; window < 20; ++window) noise = noise.with(0.0001, 16.0, 64.0);
  EXPECT_NEAR(noise.deviation(), 0.01, 0.005);
}

}  // namespace
}  // namespace poolpilot
