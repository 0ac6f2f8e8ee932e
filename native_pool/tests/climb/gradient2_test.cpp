// Netflix's Gradient2 against limits computed apart from it, by its formula.
#include "climb/baselines/gradient2.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/climb/baseline_curve.hpp"

namespace poolpilot {
namespace {

struct Told {
  int times;
  double latency_s;
  double inside;
};

std::vector<int> limits_of(Gradient2Climber& climber, const std::vector<Told>& told) {
  std::vector<int> sizes;
  for (const Told& one : told) {
    for (int i = 0; i < one.times; ++i) {
      sizes.push_back(climber.update({.throughput = 1'000,
                                      .latency_s = one.latency_s,
                                      .size = climber.size(),
                                      .in_system = one.inside}));
    }
  }
  return sizes;
}

TEST(Gradient2Climber, GrowsByAFifthOfTheQueueWhileLatencyIsLevel) {
  Gradient2Climber climber({}, 20, {1, 200});
  EXPECT_EQ(limits_of(climber, {{12, 0.1, 20}}),
            (std::vector<int>{20, 21, 22, 23, 24, 24, 25, 26, 27, 28, 28, 29}));
}

TEST(Gradient2Climber, TakesTwoHundredAndTwentyFiveWindowsFromItsFirstToItsLastLimit) {
  Gradient2Climber climber({}, 20, {20, 200});
  int windows = 0;
  while (climber.size() < 200 && windows < 1'000) {
    limits_of(climber, {{1, 0.1, 1e9}});
    ++windows;
  }
  EXPECT_EQ(windows, 225);
}

TEST(Gradient2Climber, ShrinksAsLatencyRisesAndGrowsOnceItHasFallen) {
  const std::vector<Told> told{{10, 0.1, 20}, {6, 0.2, 28}, {3, 0.4, 22}, {4, 0.04, 22}};
  Gradient2Climber climber({}, 20, {1, 200});
  EXPECT_EQ(limits_of(climber, told),
            (std::vector<int>{20, 21, 22, 23, 24, 24, 25, 26, 27, 28, 26, 24,
                              22, 21, 19, 18, 17, 16, 15, 16, 17, 18, 19}));
  Gradient2Climber tolerant({.tolerance = 1.5}, 20, {1, 200});
  EXPECT_EQ(limits_of(tolerant, told),
            (std::vector<int>{20, 21, 22, 23, 24, 24, 25, 26, 27, 28, 27, 26,
                              26, 25, 25, 25, 23, 21, 20, 21, 22, 22, 23}));
}

TEST(Gradient2Climber, DoesNotMoveWhileLessThanHalfOfItIsUsed) {
  Gradient2Climber climber({.long_window = 20}, 20, {1, 200});
  EXPECT_EQ(limits_of(climber, {{10, 0.1, 20}, {3, 0.1, 5}, {4, 0.15, 30}}),
            (std::vector<int>{20, 21, 22, 23, 24, 24, 25, 26, 27, 28, 28, 28, 28, 27, 26, 25, 25}));
}

TEST(Gradient2Climber, AWindowWithoutAnswersIsNone) {
  Gradient2Climber climber({}, 20, {1, 200});
  limits_of(climber, {{3, 0.1, 20}});
  EXPECT_EQ(climber.update({.throughput = 0, .latency_s = 0, .size = 22, .in_system = 22}), 22);
  EXPECT_EQ(limits_of(climber, {{1, 0.1, 22}}).back(), 23);
}

TEST(Gradient2Climber, GoesOnFromALimitSetByOthers) {
  Gradient2Climber climber({}, 20, {1, 200});
  climber.update({.throughput = 1, .latency_s = 0.1, .size = 100, .in_system = 100});
  EXPECT_EQ(climber.size(), 100);
  EXPECT_EQ(limits_of(climber, {{2, 0.1, 100}}).back(), 102);
}

TEST(Gradient2Climber, SurvivesHostileSamples) {
  baseline::survives_hostile_samples<Gradient2Climber>(Gradient2Settings());
}

TEST(Gradient2Climber, RefusesSettingsOutOfRange) {
  baseline::refuses_settings_out_of_range<Gradient2Climber, Gradient2Settings>();
}

}  // namespace
}  // namespace poolpilot
