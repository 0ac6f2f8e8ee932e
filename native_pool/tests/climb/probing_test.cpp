// MongoDB's probing: what is probed when, what is kept of it, and how fast that is.
#include "climb/baselines/probing.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

using baseline::hill;
using baseline::play;
using baseline::slope;

TEST(ProbingClimber, KeepsAFifthOfAProbeThatHelped) {
  ProbingClimber climber({}, 100, {1, 1024});
  play(climber, slope(1.0), 1);
  EXPECT_EQ(climber.state(), ProbingState::kUp);
  EXPECT_EQ(climber.size(), 110);
  play(climber, slope(1.0), 1);
  EXPECT_EQ(climber.state(), ProbingState::kStable);
  EXPECT_NEAR(climber.stable_size(), 102.0, 1e-9);
  EXPECT_EQ(climber.size(), 102);
}

TEST(ProbingClimber, GoesBackFromAProbeThatDidNotHelp) {
  ProbingClimber climber({}, 100, {1, 1024});
  for (const double elasticity : {0.0, -0.5}) {
    play(climber, slope(elasticity), 1);
    EXPECT_EQ(climber.size(), 110);
    play(climber, slope(elasticity), 1);
    EXPECT_EQ(climber.size(), 100);
    EXPECT_EQ(climber.stable_size(), 100.0);
  }
}

TEST(ProbingClimber, FourTimesTheSizeTakesTwiceSeventyProbes) {
  ProbingClimber climber({}, 100, {1, 1024});
  int samples = 0;
  while (climber.stable_size() < 400.0 && samples < 1000) {
    play(climber, slope(1.0), 1);
    ++samples;
  }
  EXPECT_NEAR(samples, 2.0 * std::log(4.0) / std::log(1.02), 6.0);
  EXPECT_DOUBLE_EQ(climber.period_s(), 0.1);
}

TEST(ProbingClimber, CreepsInFractionsOfAThreadInSmallPools) {
  ProbingClimber climber({}, 2, {1, 1024});
  play(climber, slope(1.0), 2);
  EXPECT_NEAR(climber.stable_size(), 2.2, 1e-12);
  EXPECT_EQ(climber.size(), 2);
  play(climber, slope(1.0), 1);
  EXPECT_EQ(climber.size(), 3);  // at least one thread
  play(climber, slope(1.0), 1);
  EXPECT_NEAR(climber.stable_size(), 2.36, 1e-12);
}

TEST(ProbingClimber, StopsWhereAProbeUpHelpsNoMoreAndHasNoWayDown) {
  ProbingClimber rising({}, 10, {1, 1024});
  play(rising, hill(100, 0.5), 1000);
  EXPECT_NEAR(rising.stable_size(), 96.0, 4.0);
  ProbingClimber beyond({}, 300, {1, 1024});
  play(beyond, hill(100, 0.5), 1000);
  EXPECT_EQ(beyond.stable_size(), 300.0);
}

TEST(ProbingClimber, ProbesDownAtTheUpperLimit) {
  ProbingClimber climber({}, 300, {1, 300});
  play(climber, slope(-1.0), 1);
  EXPECT_EQ(climber.state(), ProbingState::kDown);
  EXPECT_EQ(climber.size(), 270);
  play(climber, slope(-1.0), 1);
  EXPECT_NEAR(climber.stable_size(), 294.0, 1e-9);
}

TEST(ProbingClimber, ProbesDownWhenThePoolIsNotUsedUp) {
  ProbingClimber few({}, 100, {1, 1024});
  few.update({.throughput = 1000, .connections = 50, .latency_s = 0.09, .size = 100});
  EXPECT_EQ(few.size(), 90);
  ProbingClimber quick({}, 100, {1, 1024});
  quick.update({.throughput = 1000, .connections = 2000, .latency_s = 0.05, .size = 100});
  EXPECT_EQ(quick.size(), 90);
  ProbingClimber full({}, 100, {1, 1024});
  full.update({.throughput = 1000, .connections = 2000, .latency_s = 0.09, .size = 100});
  EXPECT_EQ(full.size(), 110);
}

TEST(ProbingClimber, AnIdlePoolStaysWhereItIs) {
  ProbingClimber climber({}, 100, {1, 1024});
  for (const int size : play(climber, slope(0.0, 0.0), 50)) EXPECT_EQ(size, 100);
  EXPECT_EQ(climber.state(), ProbingState::kStable);
}

TEST(ProbingClimber, ASizeSetByOthersBecomesTheStableOne) {
  ProbingClimber climber({}, 100, {1, 1024});
  play(climber, slope(1.0), 1);
  climber.update({.throughput = 1.0, .size = 500});
  EXPECT_EQ(climber.stable_size(), 500.0);
  EXPECT_EQ(climber.size(), 550);
}

TEST(ProbingClimber, SurvivesHostileSamples) {
  baseline::survives_hostile_samples<ProbingClimber>(ProbingSettings());
}

}  // namespace
}  // namespace poolpilot
