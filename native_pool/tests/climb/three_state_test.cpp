// Timm's three states: how long the steps are, when they are undone and when the other way is
// explored.
#include "climb/baselines/three_state.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

using baseline::hill;
using baseline::knee;
using baseline::play;
using baseline::slope;
using Sizes = std::vector<int>;

// Tells each throughput as that of the size in force and returns the sizes asked for.
Sizes tell(ThreeStateClimber& climber, const std::vector<double>& throughputs,
           double duration_s = 0.0) {
  Sizes sizes;
  for (const double throughput : throughputs) {
    const Sample sample = {
        .throughput = throughput, .size = climber.size(), .duration_s = duration_s};
    sizes.push_back(climber.update(sample));
  }
  return sizes;
}

// At 11 threads, after a step that changed nothing.
ThreeStateClimber settled_above_ten() {
  ThreeStateClimber climber({}, 10, {1, 1024});
  tell(climber, {100, 100});
  return climber;
}

TEST(ThreeStateClimber, StepsLengthenToFourWhileThroughputRises) {
  ThreeStateClimber climber({}, 10, {1, 1024});
  EXPECT_EQ(climber.state(), ScalingState::kStartup);
  EXPECT_DOUBLE_EQ(climber.period_s(), 1.0);
  EXPECT_EQ(tell(climber, {100, 120, 150, 200, 300, 400}), (Sizes{11, 13, 16, 20, 24, 28}));
  EXPECT_EQ(climber.state(), ScalingState::kScaling);
  EXPECT_EQ(climber.step(), 4);
}

TEST(ThreeStateClimber, UndoesTheStepAfterAFall) {
  ThreeStateClimber climber({}, 10, {1, 1024});
  EXPECT_EQ(tell(climber, {100, 120, 150, 130}), (Sizes{11, 13, 16, 13}));
  EXPECT_EQ(climber.state(), ScalingState::kSettled);
}

TEST(ThreeStateClimber, KeepsTheStepWithinTheStabilityFactor) {
  for (const double within : {135.0, 150.0, 166.0}) {  // 0.9 x 150, 150 / 0.9
    ThreeStateClimber climber({}, 10, {1, 1024});
    EXPECT_EQ(tell(climber, {100, 120, 150, within}).back(), 16) << within;
    EXPECT_EQ(climber.state(), ScalingState::kSettled) << within;
  }
}

TEST(ThreeStateClimber, ExploresTheOtherWayOneSampleAfterScaling) {
  ThreeStateClimber climber = settled_above_ten();
  EXPECT_EQ(tell(climber, {100}), Sizes{10});
  EXPECT_EQ(climber.state(), ScalingState::kExploring);
}

TEST(ThreeStateClimber, StepsBackPausesTwoSecondsAndExploresTheOppositeWay) {
  ThreeStateClimber climber = settled_above_ten();
  EXPECT_EQ(tell(climber, {100, 100, 100, 100, 100, 100, 100}),
            (Sizes{10, 11, 11, 12, 11, 11, 10}));
}

TEST(ThreeStateClimber, ExploringKeepsNothingThatGaveLittle) {
  ThreeStateClimber climber = settled_above_ten();
  EXPECT_EQ(tell(climber, {100, 111}), (Sizes{10, 11}));  // 111 x 0.9 < 100
  EXPECT_EQ(climber.state(), ScalingState::kSettled);
}

TEST(ThreeStateClimber, ScalesOnDownwardsWithLongerStepsWhenExploringPays) {
  ThreeStateClimber climber({}, 30, {1, 1024});
  EXPECT_EQ(tell(climber, {100, 100, 100}), (Sizes{31, 31, 30}));
  EXPECT_EQ(tell(climber, {120, 150, 200, 300, 400}), (Sizes{29, 27, 24, 20, 16}));
  EXPECT_EQ(tell(climber, {300, 400}), (Sizes{20, 21}));  // undone, then explored upwards
}

TEST(ThreeStateClimber, PausesAreCountedFromTheDurations) {
  ThreeStateClimber climber = settled_above_ten();
  tell(climber, {100, 100});  // explored and stepped back
  EXPECT_EQ(tell(climber, {100, 100, 100, 100}, 0.5), (Sizes{11, 11, 11, 12}));
  tell(climber, {100});
  EXPECT_EQ(tell(climber, {100}, 60.0), Sizes{10});
}

TEST(ThreeStateClimber, UnusableSamplesDoNotShortenThePause) {
  ThreeStateClimber climber = settled_above_ten();
  tell(climber, {100, 100});
  EXPECT_EQ(tell(climber, {-1, -1, -1}), (Sizes{11, 11, 11}));
  EXPECT_EQ(tell(climber, {100, 100}), (Sizes{11, 12}));
}

// A thread more or less changes the throughput of a large pool by less than a tenth: it stays.
TEST(ThreeStateClimber, ClimbsSmallPoolsAndStopsWhereAStepGivesLessThanATenth) {
  ThreeStateClimber climber({}, 1, {1, 1024});
  for (const int size : play(climber, knee(20), 60)) EXPECT_LE(size, 25);
  EXPECT_GE(climber.size(), 19);
  ThreeStateClimber large({}, 100, {1, 1024});
  for (const int size : play(large, slope(1.0), 60)) EXPECT_NEAR(size, 101, 1);
}

TEST(ThreeStateClimber, StaysInTheLimitsAndUndoesOnlyWhatWasTaken) {
  ThreeStateClimber rising({}, 10, {1, 12});
  EXPECT_EQ(tell(rising, {100, 120, 90}), (Sizes{11, 12, 11}));  // one thread of two was taken
  ThreeStateClimber single({}, 1, {1, 1});
  for (const int size : play(single, hill(8, 1.0), 20)) EXPECT_EQ(size, 1);
}

TEST(ThreeStateClimber, ASizeSetByOthersStartsItAgainFromThere) {
  ThreeStateClimber climber = settled_above_ten();
  EXPECT_EQ(climber.update({.throughput = 1.0, .size = 300}), 301);
  EXPECT_EQ(climber.state(), ScalingState::kScaling);
  EXPECT_EQ(tell(climber, {2.0}), Sizes{303});
}

TEST(ThreeStateClimber, SurvivesHostileSamplesAndIsDeterministic) {
  baseline::survives_hostile_samples<ThreeStateClimber>(ThreeStateSettings());
  ThreeStateSettings extreme;
  extreme.first_step = extreme.step_growth = extreme.longest_step = 1000000;
  baseline::survives_hostile_samples<ThreeStateClimber>(extreme);
}

}  // namespace
}  // namespace poolpilot
