// failsafe-go's limiter against limits computed apart from it, by its rules.
#include "climb/baselines/vegas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "climb/baselines/correlation_window.hpp"
#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

// Latency of the n-th window with so many inside.
using Law = std::function<double(double inside, int n)>;

double level(double, int) { return 0.1; }

// The limit is always full.
std::vector<int> play_full(VegasClimber& climber, const Law& latency_s, int windows) {
  std::vector<int> sizes;
  for (int n = 0; n < windows; ++n) {
    const double inside = climber.size();
    sizes.push_back(climber.update({.throughput = 1'000,
                                    .latency_s = latency_s(inside, n),
                                    .size = climber.size(),
                                    .in_system = inside}));
  }
  return sizes;
}

TEST(VegasClimber, GrowsByTheLogarithmWhileNobodyQueues) {
  VegasClimber climber({}, 20, {1, 200});
  EXPECT_EQ(play_full(climber, level, 15),
            (std::vector<int>{21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35}));
  EXPECT_EQ(climber.reason(), VegasReason::kShortQueue);
  VegasClimber larger({}, 99, {1, 200});
  EXPECT_EQ(play_full(larger, level, 4), (std::vector<int>{100, 102, 104, 106}));
}

TEST(VegasClimber, ShrinksWhileTheQueueIsLongAndStaysInBetween) {
  VegasClimber climber({}, 20, {1, 200});
  const Law step = [](double, int n) { return n < 12 ? 0.1 : 0.3; };
  EXPECT_EQ(play_full(climber, step, 21),
            (std::vector<int>{21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                              32, 33, 34, 33, 32, 31, 30, 29, 28, 27}));
  EXPECT_EQ(climber.reason(), VegasReason::kLongQueue);
  EXPECT_EQ(play_full(
                climber, [](double, int) { return 0.3; }, 9),
            (std::vector<int>{27, 27, 27, 27, 27, 27, 28, 29, 30}));
}

TEST(VegasClimber, ShrinksWhereMoreInsideOnlyRaiseLatency) {
  VegasClimber climber({}, 20, {1, 200});
  const Law full_at_24 = [](double inside, int) { return 0.1 * std::max(1.0, inside / 24); };
  EXPECT_EQ(play_full(climber, full_at_24, 40),
            (std::vector<int>{21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 29, 28, 27, 26,
                              27, 26, 27, 28, 27, 26, 25, 26, 27, 28, 29, 30, 29, 28,
                              27, 26, 25, 26, 27, 28, 29, 30, 31, 32, 31, 30}));
  EXPECT_EQ(climber.reason(), VegasReason::kThroughputIsLevel);
}

TEST(VegasClimber, ShrinksWhereMoreInsideTakeThroughputAway) {
  VegasClimber climber({}, 20, {1, 200});
  const Law collapsing = [](double inside, int) { return 0.1 * inside * inside / 400; };
  play_full(climber, collapsing, 10);
  int falls = 0;
  for (int i = 0; i < 30; ++i) {
    play_full(climber, collapsing, 1);
    falls += climber.reason() == VegasReason::kThroughputFalls ? 1 : 0;
  }
  EXPECT_GT(falls, 5);
  EXPECT_LT(climber.size(), 30);
}

TEST(VegasClimber, GivesUpWhatNobodyUses) {
  VegasClimber climber({}, 20, {1, 200});
  for (int size = 19; size >= 15; --size) {
    climber.update({.throughput = 1'000, .latency_s = 0.1, .size = climber.size(), .in_system = 3});
    EXPECT_EQ(climber.size(), size);
    EXPECT_EQ(climber.reason(), VegasReason::kFarFromFull);
  }
}

TEST(VegasClimber, WaitsUntilAWindowHasItsRequests) {
  VegasClimber climber({}, 20, {1, 200});
  const Sample few{
      .throughput = 20, .latency_s = 0.1, .size = 20, .duration_s = 1.0, .in_system = 20};
  EXPECT_EQ(climber.update(few), 20);
  EXPECT_EQ(climber.update(few), 20);
  EXPECT_EQ(climber.reason(), VegasReason::kTooFewRequests);
  EXPECT_EQ(climber.update(few), 21);
}

TEST(VegasClimber, GoesOnFromALimitSetByOthers) {
  VegasClimber climber({}, 20, {1, 200});
  climber.update({.throughput = 1'000, .latency_s = 0.1, .size = 150, .in_system = 150});
  EXPECT_EQ(climber.size(), 152);
}

TEST(VegasClimber, SurvivesHostileSamples) {
  baseline::survives_hostile_samples<VegasClimber>(VegasSettings());
}

TEST(VegasClimber, RefusesSettingsOutOfRange) {
  baseline::refuses_settings_out_of_range<VegasClimber, VegasSettings>();
  try {
    const VegasClimber climber({.alpha = 4, .beta = 3}, 20, {1, 200});
    ADD_FAILURE();
  } catch (const std::invalid_argument& refusal) {
    EXPECT_EQ(std::string(refusal.what()), "beta is 3, but must be at least alpha, which is 4");
  }
}

TEST(CorrelationWindow, SaysHowTwoMeasuresGoTogetherInTheLastPairs) {
  CorrelationWindow window(4, 3);
  EXPECT_EQ(window.add(1, 10).coefficient, 0.0);
  EXPECT_EQ(window.add(2, 20).coefficient, 0.0);
  EXPECT_NEAR(window.add(3, 30).coefficient, 1.0, 1e-12);
  EXPECT_NEAR(window.add(4, 10).coefficient, 0.1348399725, 1e-9);
  for (const double x : {1.0, 2.0, 3.0}) window.add(x, 40 - x);
  EXPECT_NEAR(window.add(4, 36).coefficient, -1.0, 1e-12);
  EXPECT_NEAR(window.add(5, 36).variation_y, 0.0225621, 1e-6);
}

TEST(CorrelationWindow, SaysNothingOfWhatHardlyVaries) {
  CorrelationWindow window(10, 2);
  Correlation last;
  for (int i = 0; i < 10; ++i) last = window.add(100 + i, 100 + i * 0.01);
  EXPECT_EQ(last.coefficient, 0.0);
  EXPECT_LT(last.variation_y, 0.01);
}

}  // namespace
}  // namespace poolpilot
