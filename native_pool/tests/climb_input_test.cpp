// What the climber refuses, and what it must survive.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "tests/played_curve.hpp"

namespace poolpilot {
namespace {

TEST(Input, BadSamplesSettingsAndSizesAreRefusedByName) {
  SpectralClimber climber(small_server(), 8, 1, 64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto message_of = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message_of([&] { climber.update({nan, 1.0, 0.1, 8}); }).find("throughput is nan"),
            std::string::npos);
  EXPECT_NE(message_of([&] { climber.update({1.0, -1.0, 0.1, 8}); }).find("connections is -1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { climber.update({1.0, 1.0, 0.1, 0}); }).find("size is 0"),
            std::string::npos);
  EXPECT_NE(message_of([] { SpectralClimber(small_server(), 9, 1, 8); }).find("max_size 8"),
            std::string::npos);
  SpectralSettings settings;
  settings.wave_period = 7;
  EXPECT_NE(message_of([&] { settings.validate(); }).find("wave_period is 7"), std::string::npos);
  settings = {};
  settings.hcm_false_jump_ratio = 1.5;
  EXPECT_NE(message_of([&] {
              settings.validate();
            }).find("hcm_false_jump_ratio is 1.5, but must be in 0..1"),
            std::string::npos);
}

TEST(Input, NoSequenceOfSamplesLeadsOutOfTheLimits) {
  std::mt19937_64 random(5);
  const auto below = [&random](std::uint64_t limit) { return static_cast<int>(random() % limit); };
  for (int run = 0; run < 300; ++run) {
    const int min_size = 1 + below(4);
    const int max_size = min_size + below(run % 2 == 0 ? 6 : 2000);
    const int start = min_size + below(static_cast<std::uint64_t>(max_size - min_size) + 1);
    SpectralClimber climber(small_server(), start, min_size, max_size, run % 3 == 0);
    int size = climber.log().back().size;
    for (int i = 0; i < 500; ++i) {
      const bool forced = below(100) == 0;
      if (forced) size = 1 + below(3000);
      const int kind = below(20);
      const double throughput = kind == 0 ? 0.0 : kind == 1 ? 1.0 : 1000.0 + below(2000);
      const double connections = below(60) == 0 ? 0.0 : 1.0 + below(100);
      size = climber.update({throughput, connections, 0.001 * below(50), size});
      ASSERT_GE(size, min_size);
      ASSERT_LE(size, max_size);
    }
  }
}

TEST(Input, OnlySizeThereIsIsHeldAtOnce) {
  SpectralClimber climber(small_server(), 4, 4, 4);
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
}

TEST(Log, KeepsTheLatestDecisionsOnly) {
  SpectralSettings settings = small_server();
  settings.log_limit = 3;
  SpectralClimber climber(settings, 8, 1, 64);
  PlayedCurve curve(arch(32, 0.5), 64, 0.05);
  int size = climber.log().back().size;
  curve.play_until_held(climber, size);
  ASSERT_EQ(climber.log().size(), 3U);
  EXPECT_EQ(climber.log().back().mode, Mode::kOptimized);
  EXPECT_EQ(climber.log().back().size, size);
}

}  // namespace
}  // namespace poolpilot
