// Golden-section search: how near it ends, in how many points, and what starts it again.
#include "climb/baselines/golden_section.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

using baseline::hill;
using baseline::knee;
using baseline::Noise;
using baseline::play;
using baseline::slope;

std::vector<int> search(GoldenSectionClimber& climber, const baseline::Throughput& curve) {
  std::vector<int> sizes;
  while (!climber.holding() && sizes.size() < 500) sizes.push_back(play(climber, curve, 1).back());
  return sizes;
}

TEST(GoldenSectionClimber, EndsWithinTheToleranceOfTheSummit) {
  for (const int optimum : {1, 2, 3, 7, 32, 63, 64}) {
    GoldenSectionClimber climber({}, 8, {1, 64});
    search(climber, hill(optimum, 0.5));
    EXPECT_TRUE(climber.holding());
    EXPECT_LE(std::abs(climber.size() - optimum), 1) << "optimum " << optimum;
  }
  for (const int optimum : {50, 300, 700, 1024}) {
    GoldenSectionClimber climber({}, 8, {1, 1024});
    search(climber, hill(optimum, 0.5));
    EXPECT_NEAR(climber.size(), optimum, 0.02 * optimum) << "optimum " << optimum;
  }
}

// Each point after the first two shrinks the bracket to 0.618 of it.
TEST(GoldenSectionClimber, NeedsTheExpectedNumberOfPoints) {
  GoldenSectionClimber climber({}, 8, {1, 1024});
  const std::vector<int> sizes = search(climber, hill(300, 0.5));
  const double shrinking = std::log(1024.5 / 0.5) / std::log(1.02);
  EXPECT_NEAR(climber.points(), 1.0 + std::log(shrinking) / std::log(1.618), 1.5);
  EXPECT_EQ(sizes.size(), 1U + 4U * static_cast<unsigned>(climber.points()));
}

TEST(GoldenSectionClimber, TheFirstTwoPointsCutTheLogarithmOfTheRange) {
  GoldenSectionClimber climber({}, 500, {1, 1024});
  const std::vector<int> sizes = play(climber, slope(1.0), 5);
  const double width = std::log(1024.5 / 0.5);
  EXPECT_EQ(sizes[0], std::lround(0.5 * std::exp(0.381966 * width)));
  EXPECT_EQ(sizes[4], std::lround(0.5 * std::exp(0.618034 * width)));
}

TEST(GoldenSectionClimber, FindsTheEndsOfTheRange) {
  GoldenSectionClimber rising({}, 8, {1, 64});
  search(rising, slope(1.0));
  EXPECT_EQ(rising.size(), 64);
  GoldenSectionClimber falling({}, 8, {1, 64});
  search(falling, slope(-1.0));
  EXPECT_EQ(falling.size(), 1);
}

TEST(GoldenSectionClimber, OfEqualSizesTheSmallerOneWins) {
  for (const int at : {1, 20, 64}) {
    GoldenSectionClimber climber({}, 8, {1, 64});
    search(climber, knee(at));
    EXPECT_EQ(climber.size(), at);
  }
}

TEST(GoldenSectionClimber, MeasuresNoSizeTwiceAndHoldsTheBestOneMeasured) {
  GoldenSectionClimber climber({}, 8, {1, 64});
  std::set<int> seen;
  double best = 0.0;
  const auto curve = hill(11, 0.5);
  const std::vector<int> sizes = search(climber, curve);
  for (std::size_t i = 0; i + 1 < sizes.size(); i += 4) {
    EXPECT_TRUE(seen.insert(sizes[i]).second) << sizes[i];
    best = std::max(best, curve(sizes[i]));
  }
  EXPECT_EQ(curve(climber.size()), best);
}

TEST(GoldenSectionClimber, SmallestRangesEnd) {
  for (const int width : {0, 1, 2}) {
    GoldenSectionClimber climber({}, 5, {5, 5 + width});
    search(climber, slope(1.0));
    EXPECT_TRUE(climber.holding());
    EXPECT_EQ(climber.size(), 5 + width);
  }
}

TEST(GoldenSectionClimber, HoldsInNoiseAndSearchesAgainAfterADeparture) {
  GoldenSectionClimber climber({}, 8, {1, 64});
  search(climber, hill(16, 0.5));
  const int held = climber.size();
  for (const int size : play(climber, hill(16, 0.5), 400, Noise(0.08))) EXPECT_EQ(size, held);
  play(climber, hill(16, 0.5, 1.3e5), 8);
  EXPECT_FALSE(climber.holding());
  search(climber, hill(48, 0.5, 1.3e5));
  EXPECT_NEAR(climber.size(), 48, 1);
}

TEST(GoldenSectionClimber, ASizeSetByOthersStartsTheSearchAgain) {
  GoldenSectionClimber climber({}, 8, {1, 64});
  const int first = play(climber, slope(1.0), 1).back();
  search(climber, hill(16, 0.5));
  climber.update({.throughput = 1.0, .size = 50});
  EXPECT_FALSE(climber.holding());
  EXPECT_EQ(climber.points(), 0);
  EXPECT_EQ(climber.size(), first);
}

TEST(GoldenSectionClimber, SurvivesHostileSamples) {
  baseline::survives_hostile_samples<GoldenSectionClimber>(GoldenSectionSettings());
}

}  // namespace
}  // namespace poolpilot
