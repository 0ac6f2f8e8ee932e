// Steps of the control-theoretic baseline against its formula.
#include "climb/baselines/control_theory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

using baseline::hill;
using baseline::Noise;
using baseline::play;
using baseline::slope;

// The formula in the units of the class, for a size and the one before.
double step(const ControlTheorySettings& settings, double size, double before, double throughput,
            double throughput_before, double error, int k) {
  const double unit = settings.throughput_unit * (throughput + throughput_before) / 2.0;
  const double gradient =
      (throughput - throughput_before) / unit / (size - before) * (settings.size_unit * size);
  const double gain = std::exp(-error / unit) * settings.control_gain / std::sqrt(k + 1.0);
  return std::ceil(gain * std::abs(gradient) * settings.size_unit * size);
}

TEST(ControlTheoryClimber, DecidesAfterEachFourSamplesAndStartsWithTenPercentUp) {
  ControlTheoryClimber climber({}, 100, {1, 1024});
  EXPECT_EQ(play(climber, slope(0.5), 4), (std::vector<int>{100, 100, 100, 110}));
}

TEST(ControlTheoryClimber, FollowsTheFormula) {
  const ControlTheorySettings settings;
  const auto curve = slope(0.5);
  ControlTheoryClimber climber(settings, 100, {1, 1024});
  int before = 100;
  play(climber, curve, 4);
  for (int k = 1; k <= 6; ++k) {
    const int size = climber.size();
    play(climber, curve, 4);
    EXPECT_EQ(climber.size(),
              size + step(settings, size, before, curve(size), curve(before), 0, k));
    before = size;
  }
}

TEST(ControlTheoryClimber, NoiseWithinASizeShortensTheStep) {
  const ControlTheorySettings settings;
  ControlTheoryClimber climber(settings, 100, {1, 1024});
  play(climber, slope(1.0), 4);
  ASSERT_EQ(climber.size(), 110);
  for (const double throughput : {0.8e6, 1.4e6, 0.8e6, 1.4e6}) {
    climber.update({.throughput = throughput, .size = 110});
  }
  const double error = 0.3e6 * std::sqrt(4.0 / 3.0) / 2.0;
  EXPECT_EQ(climber.size(), 110 + step(settings, 110, 100, 1.1e6, 1.0e6, error, 1));
  EXPECT_LT(climber.size(), 110 + step(settings, 110, 100, 1.1e6, 1.0e6, 0, 1));
}

TEST(ControlTheoryClimber, TheUnitOfThroughputDoesNotMatter) {
  ControlTheoryClimber slow({}, 8, {1, 1024});
  ControlTheoryClimber fast({}, 8, {1, 1024});
  EXPECT_EQ(play(slow, hill(200, 0.5, 10.0), 400, Noise(0.05)),
            play(fast, hill(200, 0.5, 10.0 * 1048576), 400, Noise(0.05)));
}

TEST(ControlTheoryClimber, WithoutNoiseEndsNearTheSummitOfSmallAndLargePools) {
  for (const int optimum : {4, 32, 300}) {
    ControlTheoryClimber climber({}, 2 * optimum, {1, 1024});
    play(climber, hill(optimum, 0.5), 4000);
    EXPECT_NEAR(climber.size(), optimum, std::max(2.0, 0.1 * optimum));
  }
}

TEST(ControlTheoryClimber, LimitsAStepToHalfTheSize) {
  ControlTheorySettings settings;
  settings.control_gain = 1000.0;
  ControlTheoryClimber climber(settings, 100, {1, 1024});
  play(climber, slope(1.0), 4);
  play(climber, slope(1.0), 4);
  EXPECT_EQ(climber.size(), 110 + 55);
}

TEST(ControlTheoryClimber, TurnsBackWhereTheSizeDidNotChange) {
  ControlTheoryClimber flat({}, 100, {1, 1024});
  const std::vector<int> sizes = play(flat, slope(0.0), 16);
  EXPECT_EQ(sizes[3], 110);
  EXPECT_EQ(sizes[7], 110);  // no gradient: no step
  EXPECT_EQ(sizes[11], 99);  // no change of size: back by 10 %
  EXPECT_EQ(sizes[15], 99);

  ControlTheoryClimber at_limit({}, 100, {1, 100});
  EXPECT_EQ(play(at_limit, slope(1.0), 4).back(), 90);
  EXPECT_EQ(play(at_limit, slope(1.0), 4).back(), 100);
}

TEST(ControlTheoryClimber, StartsAgainFromASizeSetByOthers) {
  ControlTheoryClimber climber({}, 8, {1, 1024});
  play(climber, slope(1.0), 41);
  climber.update({.throughput = slope(1.0)(500), .size = 500});
  EXPECT_EQ(climber.size(), 500);
  EXPECT_EQ(play(climber, slope(1.0), 3).back(), 550);
  const ControlTheorySettings settings;
  const double longest = step(settings, 550, 500, 550, 500, 0, 1);
  EXPECT_EQ(play(climber, slope(1.0), 4).back(), 550 + longest);
}

TEST(ControlTheoryClimber, AnIdleServerIsNoGradient) {
  ControlTheoryClimber climber({}, 8, {1, 64});
  for (const int size : play(climber, slope(0.0, 0.0), 400)) {
    EXPECT_GE(size, 7);
    EXPECT_LE(size, 9);
  }
}

TEST(ControlTheoryClimber, SurvivesHostileSamples) {
  baseline::survives_hostile_samples<ControlTheoryClimber>(ControlTheorySettings());
}

}  // namespace
}  // namespace poolpilot
