// .NET's hill climbing: when it decides, where it stops, how fast it is, what it refuses.
#include "climb/baselines/dotnet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

using baseline::hill;
using baseline::knee;
using baseline::Noise;
using baseline::play;
using baseline::slope;

constexpr double kMeanInterval = 0.105;

// Full confidence whatever the noise: the signal asked for is next to nothing.
DotnetSettings confident() {
  DotnetSettings settings;
  settings.target_signal_to_noise_ratio = 0.01;
  return settings;
}

TEST(DotnetClimber, WavesFromTheStartButDecidesOnlyAfterNineSamples) {
  DotnetClimber climber({}, 50, {1, 1000});
  EXPECT_EQ(play(climber, slope(1.0), 8), (std::vector<int>{50, 51, 51, 50, 50, 51, 51, 50}));
  EXPECT_EQ(climber.control(), 50.0);
  play(climber, slope(1.0), 1);
  EXPECT_GT(climber.control(), 50.0);
}

TEST(DotnetClimber, StopsAtAnElasticityOfFifteenPercentRatherThanTheSummit) {
  const double fixed_point = 40.0 * std::exp(-0.15);
  for (const int start : {24, 60}) {
    DotnetClimber climber(confident(), start, {1, 1000});
    play(climber, hill(40, 1.0), 20000);
    EXPECT_NEAR(std::floor(climber.control()) + 0.5, fixed_point, 1.1) << "from " << start;
  }
}

TEST(DotnetClimber, WalksDownAPlateauAtNineHundredthsOfAThreadASecond) {
  DotnetClimber climber(confident(), 500, {1, 1000});
  play(climber, knee(1), 100);
  const double before = climber.control();
  play(climber, knee(1), 2000);
  EXPECT_NEAR((before - climber.control()) / (2000 * kMeanInterval), 4 * 0.15 * 0.15, 0.005);
}

TEST(DotnetClimber, WithFullConfidenceTheSpeedIsThatOfTheElasticity) {
  for (const double elasticity : {1.0, 0.8, 0.5, 0.3}) {
    DotnetClimber climber(confident(), 200, {1, 1000});
    play(climber, slope(elasticity), 50);
    const double before = climber.control();
    play(climber, slope(elasticity), 400);
    const double speed = (climber.control() - before) / (400 * kMeanInterval);
    EXPECT_NEAR(speed, 4.0 * std::pow(elasticity - 0.15, 2), 0.05) << elasticity;
  }
}

TEST(DotnetClimber, IsNeverFasterThanThatWhateverTheSizeAndTheNoise) {
  for (const int start : {20, 500}) {
    DotnetClimber climber({}, start, {1, 100000});
    play(climber, slope(1.0), 600, Noise(0.02));
    EXPECT_LT(climber.control() - start, 4.0 * 600 * kMeanInterval);
  }
}

TEST(DotnetClimber, TheWaveGrowsWithTheNoiseToTwentyThreadsAndNoFurther) {
  int highest = 0;
  for (const double noise : {0.0, 0.3}) {
    DotnetClimber climber({}, 250, {1, 1000});
    for (int i = 0; i < 400; ++i) {
      play(climber, knee(1), 1, Noise(noise, static_cast<unsigned>(i)));
      highest = std::max(highest, climber.wave_magnitude());
      EXPECT_LE(climber.size(), climber.control() + 20.0);
    }
    EXPECT_EQ(highest, noise > 0.0 ? 20 : 1);
  }
}

TEST(DotnetClimber, TheGateRefusesSamplesWithTooFewCompletions) {
  DotnetClimber climber({}, 16, {1, 64});
  const Sample poor = {.throughput = 99.9, .size = 16, .duration_s = 1.0};  // 15 / 99.9 > 0.15
  climber.update(poor);
  EXPECT_EQ(climber.samples(), 1);  // the first one is never refused
  Sample next = poor;
  next.size = climber.size();
  climber.update(next);
  EXPECT_EQ(climber.samples(), 1);
  EXPECT_EQ(climber.size(), 16);
  EXPECT_DOUBLE_EQ(climber.period_s(), 0.010);
  climber.update(next);  // together they are enough
  EXPECT_EQ(climber.samples(), 2);

  DotnetClimber content({}, 16, {1, 64});
  content.update(poor);
  content.update({.throughput = 100.1, .size = 16, .duration_s = 1.0});
  EXPECT_EQ(content.samples(), 2);
}

TEST(DotnetClimber, RefusedSamplesAreAddedUpNotLost) {
  DotnetClimber whole({}, 16, {1, 64});
  DotnetClimber halves({}, 16, {1, 64});
  for (int i = 0; i < 200; ++i) {
    const int size = whole.size();
    const double throughput = 20.0 * size;  // enough in half a second, too little in a quarter
    whole.update({.throughput = throughput, .size = size, .duration_s = 0.5});
    if (i > 0) halves.update({.throughput = throughput, .size = size, .duration_s = 0.25});
    EXPECT_EQ(halves.samples(), i);
    halves.update({.throughput = throughput, .size = size, .duration_s = i > 0 ? 0.25 : 0.5});
    ASSERT_EQ(whole.size(), halves.size());
  }
  EXPECT_EQ(whole.control(), halves.control());
  EXPECT_GT(whole.control(), 20.0);
}

TEST(DotnetClimber, ASizeForcedByOthersShiftsTheControlAndKeepsTheHistory) {
  DotnetClimber climber({}, 50, {1, 1000});
  play(climber, slope(0.0), 40);
  const double control = climber.control();
  const int before = climber.size();
  climber.update({.throughput = 1e4, .size = before + 100});
  EXPECT_NEAR(climber.control(), control + 100.0, 1.0);
  EXPECT_EQ(climber.samples(), 41);
}

TEST(DotnetClimber, StaysInsideTheLimitsWaveIncluded) {
  DotnetClimber rising({}, 60, {1, 64});
  for (const int size : play(rising, slope(1.0), 500, Noise(0.1))) EXPECT_LE(size, 64);
  EXPECT_LE(rising.control() + rising.wave_magnitude(), 64.0);
  DotnetClimber falling({}, 5, {4, 64});
  for (const int size : play(falling, slope(-1.0), 500)) EXPECT_GE(size, 4);
}

TEST(DotnetClimber, IntervalsAreSeededWholeMillisecondsDrawnWithEachNewSize) {
  DotnetSettings other;
  other.seed = 2;
  DotnetClimber first({}, 50, {1, 1000});
  DotnetClimber second({}, 50, {1, 1000});
  DotnetClimber third(other, 50, {1, 1000});
  double sum = 0.0;
  int different = 0;
  for (int i = 0; i < 4000; ++i) {
    const double before = first.period_s();
    const int size = first.size();
    play(first, slope(0.15), 1);
    play(second, slope(0.15), 1);
    play(third, slope(0.15), 1);
    EXPECT_TRUE(first.size() != size || first.period_s() == before);
    EXPECT_EQ(first.period_s(), second.period_s());
    EXPECT_GE(first.period_s(), 0.010);
    EXPECT_LE(first.period_s(), 0.200);
    if (first.period_s() != third.period_s()) ++different;
    sum += first.period_s();
  }
  EXPECT_NEAR(sum / 4000, kMeanInterval, 0.005);
  EXPECT_GT(different, 3000);
}

TEST(DotnetClimber, StaysLongerAtTheFloorWhereFewerThreadsWouldBeBetter) {
  DotnetClimber climber({}, 4, {4, 64});
  double longest = 0.0;
  for (int i = 0; i < 200; ++i) {
    play(climber, slope(-2.0), 1);
    EXPECT_LE(climber.period_s(), climber.size() > 4 ? 0.200 : 2.000);
    longest = std::max(longest, climber.period_s());
  }
  EXPECT_GT(longest, 1.0);
  EXPECT_LE(longest, 2.0);
}

TEST(DotnetClimber, AnIdleServerLeavesTheControlAlone) {
  DotnetClimber climber({}, 8, {1, 64});
  play(climber, slope(0.0, 0.0), 200);
  EXPECT_EQ(climber.control(), 8.0);
}

TEST(DotnetClimber, SurvivesHostileSamples) {
  baseline::survives_hostile_samples<DotnetClimber>(DotnetSettings());
}

}  // namespace
}  // namespace poolpilot
