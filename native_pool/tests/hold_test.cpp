// When the climber holds a summit and when it leaves it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/played_curve.hpp"

namespace poolpilot {
namespace {

TEST(Hold, WarmStartHoldsTheSummitOnASteadyNoisyCurve) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SpectralClimber climber(trusting(), 32, {.min = 1, .max = 64}, true);
    PlayedCurve curve(arch(32, 0.5), 64, 0.1, seed);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(curve.play(climber, 32), 32) << seed << " " << i;
    EXPECT_EQ(climber.mode(), Mode::kOptimized);
  }
}

TEST(Hold, WarmStartLooksRoundWithASmallWaveAndThenHoldsWhatIsRight) {
  int held = 0;
  constexpr int kSeeds = 20;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SpectralClimber climber(small_server(), 32, {.min = 1, .max = 64}, true);
    PlayedCurve curve(arch(32, 0.5), 64, 0.02, seed);
    int size = climber.size();
    int widest = 0;
    int narrowest = 64;
    for (int i = 0; i < 400 && climber.mode() != Mode::kOptimized; ++i) {
      size = curve.play(climber, size);
      widest = std::max(widest, size);
      narrowest = std::min(narrowest, size);
    }
    EXPECT_LE(widest, 64);
    EXPECT_GE(narrowest, 16);
    if (curve.loss(size, 0.02) < 0.01) ++held;
  }
  EXPECT_GE(held, kSeeds - 1);
}

TEST(Hold, WarmStartThatIsWrongIsLeftForTheOptimum) {
  for (const int given : {4, 300}) {
    SpectralClimber climber(small_server(), given, {.min = 1, .max = 512}, true);
    PlayedCurve curve(arch(60, 0.5), 512, 0.02, 5);
    int size = climber.size();
    curve.play_until_held(climber, size);
    EXPECT_LE(curve.loss(size, 0.02), 0.02) << given;
  }
}

TEST(Hold, ShiftByAThirdIsNoticedWithinTwoSamples) {
  int late = 0;
  constexpr int kSeeds = 200;
  for (const double share : {0.7, 1.3}) {
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      SpectralClimber climber(trusting(), 32, {.min = 1, .max = 64}, true);
      PlayedCurve curve(arch(32, 0.5), 64, 0.05, seed);
      for (int i = 0; i < 60; ++i) curve.play(climber, 32);
      ASSERT_EQ(climber.mode(), Mode::kOptimized);
      curve.change(arch(32, 0.5, 1000.0 * share));
      for (int i = 0; i < 2; ++i) curve.play(climber, climber.size());
      if (climber.mode() == Mode::kOptimized) ++late;
    }
  }
  EXPECT_LE(late, 2 * kSeeds * 2 / 100);
}

TEST(Hold, StationaryNoiseNeverRestartsIt) {
  SpectralClimber climber(trusting(), 32, {.min = 1, .max = 64}, true);
  PlayedCurve curve(arch(32, 0.5), 64, 0.05, 11);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(curve.play(climber, 32), 32) << i;
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
}

TEST(Hold, OneOutlierDoesNotMoveIt) {
  Held held;
  const int size = held.size;
  held.climber.update(
      {.throughput = 100.0, .connections = 2048.0, .latency_s = 20.0, .size = size});
  for (int i = 0; i < 50; ++i) ASSERT_EQ(held.curve.play(held.climber, size), size);
}

TEST(Hold, ChangedThroughputRestartsAndTheNewSummitIsFound) {
  for (const double noise : {0.0, 0.05}) {
    Held held(noise);
    held.curve.change(arch(6, 0.5));
    int played = 0;
    while (held.climber.mode() == Mode::kOptimized && played < 60) {
      held.size = held.curve.play(held.climber, held.size);
      ++played;
    }
    EXPECT_LE(played, 30);
    EXPECT_TRUE(logged(held.climber, "throughput left its reference"));
    held.curve.play_until_held(held.climber, held.size);
    EXPECT_LE(held.curve.loss(held.size, 0.02), 0.1);
  }
}

TEST(Hold, ChangedLatencyAloneRestarts) {
  Held held;
  for (int i = 0; i < 10; ++i) {
    held.size = held.climber.update({.throughput = arch(32, 0.5)(held.size),
                                     .connections = 2048.0,
                                     .latency_s = 9.0,
                                     .size = held.size});
  }
  EXPECT_NE(held.climber.mode(), Mode::kOptimized);
  EXPECT_TRUE(logged(held.climber, "latency left its reference"));
}

TEST(Hold, FewerConnectionsAtTheSameThroughputWalkLeft) {
  SpectralClimber climber(trusting(), 32, {.min = 1, .max = 64}, true);
  PlayedCurve curve(knee(4), 64, 0.0);
  for (int i = 0; i < 40; ++i) curve.play(climber, 32);
  int size = 32;
  for (int i = 0; i < 20 && climber.mode() == Mode::kOptimized; ++i) {
    size = climber.update(
        {.throughput = 1000.0, .connections = 1024.0, .latency_s = 2.048, .size = size});
  }
  EXPECT_EQ(climber.mode(), Mode::kPlateau);
  EXPECT_LT(size, 32);
  curve.connections = 1024.0;
  curve.play_until_held(climber, size);
  EXPECT_EQ(size, 4);
}

}  // namespace
}  // namespace poolpilot
