// What makes the climber start again, pause or refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/climb/played_curve.hpp"

namespace poolpilot {
namespace {

TEST(Restart, ManualChangeStartsFromTheNewSize) {
  Held held;
  held.size = held.curve.play(held.climber, 50);
  EXPECT_EQ(held.climber.mode(), Mode::kUsual);
  EXPECT_EQ(held.size, 50);
  EXPECT_TRUE(logged(held.climber, "changed from outside to 50"));
  held.curve.play_until_held(held.climber, held.size);
  EXPECT_LE(held.curve.loss(held.size, 0.02), 0.05);
}

TEST(Restart, ManualChangeBeyondTheLimitIsBroughtBack) {
  SpectralClimber climber(small_server(), 8, {.min = 1, .max = 64});
  EXPECT_LE(
      climber.update({.throughput = 900.0, .connections = 64.0, .latency_s = 0.1, .size = 500}),
      64);
}

TEST(Restart, CurveThatChangesUnderTheClimbIsNoticed) {
  SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 64});
  PlayedCurve curve(arch(40, 0.3), 64, 0.02);
  int size = climber.size();
  for (int i = 0; i < 40; ++i) size = curve.play(climber, size);
  ASSERT_NE(climber.mode(), Mode::kOptimized);
  curve.change(arch(10, 0.3, 500.0));
  curve.play_until_held(climber, size);
  EXPECT_TRUE(logged(climber, "the curve has changed"));
  EXPECT_LE(curve.loss(size, 0.02), 0.1);
}

TEST(Restart, NoConnectionsWaitsAndForgets) {
  Held held;
  const int size = held.size;
  const Sample nobody{.throughput = 0.0, .connections = 0.0, .latency_s = 0.0, .size = size};
  const int asked = held.climber.update(nobody);
  EXPECT_EQ(held.climber.mode(), Mode::kUsual);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(held.climber.update(
                  {.throughput = 0.0, .connections = 0.0, .latency_s = 0.0, .size = asked}),
              asked);
  }
  EXPECT_EQ(held.climber.journal().latest().reason, Reason::kNoConnections);
}

TEST(Restart, WarmStartBeforeTheFirstConnectionStaysWarm) {
  for (const SpectralSettings& settings : {small_server(), trusting()}) {
    SpectralClimber climber(settings, 32, {.min = 1, .max = 64}, true);
    const ClimbRecord first = climber.journal().latest();
    for (int i = 0; i < 5; ++i) {
      climber.update(
          {.throughput = 0.0, .connections = 0.0, .latency_s = 0.0, .size = climber.size()});
    }
    EXPECT_EQ(climber.mode(), first.mode);
    EXPECT_EQ(climber.journal().latest().bracket_low, first.bracket_low);
  }
}

TEST(Restart, CliffIsLeftAndNotVisitedAgain) {
  const auto cliff = [](double size) { return size <= 20 ? 50.0 * size : 30.0; };
  SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 64});
  PlayedCurve curve(cliff, 64, 0.0);
  int size = climber.size();
  int on_the_cliff = 0;
  int played = 0;
  while (climber.mode() != Mode::kOptimized && played < 500) {
    if (size > 20) ++on_the_cliff;
    size = curve.play(climber, size);
    ++played;
  }
  EXPECT_TRUE(logged(climber, "steep decline"));
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
  EXPECT_GE(size, 18);
  EXPECT_LE(size, 20);
  EXPECT_LE(on_the_cliff, 20);
}

TEST(Restart, LowThroughputOfAnIdleServerPausesTheClimbWhereItIs) {
  SpectralSettings settings = small_server();
  settings.min_accepted_throughput = 300.0;
  SpectralClimber climber(settings, 8, {.min = 1, .max = 64});
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(
        climber.update({.throughput = 250.0, .connections = 2048.0, .latency_s = 0.002, .size = 8}),
        8);
    ASSERT_EQ(climber.journal().latest().reason, Reason::kTooLow);
  }
  PlayedCurve curve(arch(32, 0.5, 2500.0), 64, 0.0);
  int size = climber.size();
  curve.play_until_held(climber, size);
  EXPECT_LE(curve.loss(size, 0.02), 0.05);
}

// Targets that nobody meets, or a floor that is broken, make a window worth next to nothing.
TEST(Restart, WindowsWorthLittleAreClimbedWhereRequestsAreCompleted) {
  SpectralSettings settings = small_server();
  settings.min_accepted_throughput = 1.0;
  SpectralClimber climber(settings, 4, {.min = 1, .max = 64});
  const Curve curve = arch(32, 0.5, 0.5);
  int size = climber.size();
  for (int i = 0; i < 300; ++i) {
    size = climber.update({.throughput = curve(size),
                           .connections = 200.0,
                           .latency_s = 0.001,
                           .size = size,
                           .duration_s = 0.0,
                           .in_system = 0.5,
                           .completed = 500.0});
    ASSERT_NE(climber.journal().latest().reason, Reason::kTooLow);
  }
  EXPECT_GE(size, 24);
  EXPECT_LE(size, 40);
}

TEST(Restart, SlowServerOnWhichRequestsWaitIsClimbed) {
  for (const double in_system : {-1.0, 200.0}) {
    SpectralSettings settings = small_server();
    settings.min_accepted_throughput = 300.0;
    SpectralClimber climber(settings, 4, {.min = 1, .max = 64});
    const Curve curve = arch(32, 0.5, 20.0);
    int size = climber.size();
    for (int i = 0; i < 300; ++i) {
      size = climber.update({.throughput = curve(size),
                             .connections = 200.0,
                             .latency_s = in_system < 0.0 ? 200.0 / curve(size) : 0.0,
                             .size = size,
                             .duration_s = 0.0,
                             .in_system = in_system});
    }
    EXPECT_GE(size, 24);
    EXPECT_LE(size, 40);
  }
}

TEST(Refusal, JumpFarBeyondTheConnectionsIsFalse) {
  SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 1024});
  PlayedCurve curve(roof(1024, 0.9, 0.5), 1024, 0.0);
  curve.connections = 10.0;
  int size = climber.size();
  int largest = size;
  for (int i = 0; i < 400; ++i) {
    size = curve.play(climber, size);
    largest = std::max(largest, size);
  }
  EXPECT_TRUE(logged(climber, "false jump"));
  EXPECT_LE(largest, 50);
}

TEST(Refusal, OptimumFarAboveTheConnectionsIsFalse) {
  SpectralClimber climber(without_scan(), 200, {.min = 1, .max = 1024});
  PlayedCurve curve(roof(220, 0.9, 0.5), 1024, 0.0);
  curve.connections = 100.0;
  int size = climber.size();
  for (int i = 0; i < 200 && !logged(climber, "false optimum"); ++i)
    size = curve.play(climber, size);
  EXPECT_TRUE(logged(climber, "false optimum"));
  EXPECT_LE(climber.size(), 100);
}

}  // namespace
}  // namespace poolpilot
