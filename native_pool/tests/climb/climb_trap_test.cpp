// Curves with more than one hill: nothing between the start and the best size may keep the climb.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/climb/played_curve.hpp"

namespace poolpilot {
namespace {

struct Trap {
  std::string name;
  std::vector<double> at_powers_of_two;

  int max_size() const { return 1 << (at_powers_of_two.size() - 1); }

  // Straight lines between the powers of two.
  Curve curve() const {
    return [points = at_powers_of_two](double size) {
      const auto last = points.size() - 1;
      const auto left = std::min(static_cast<std::size_t>(std::log2(size)), last - 1);
      const double from = std::exp2(static_cast<double>(left));
      return std::lerp(points[left], points[left + 1], size / from - 1.0);
    };
  }
};

const std::vector<Trap>& traps() {
  static const std::vector<Trap> kTraps = {
      {"a dip below a cliff", {30, 300, 50, 16000, 25000, 27000, 30000}},
      {"a dip of two sizes", {200, 320, 60, 40, 3000, 9000, 10000, 10000}},
      {"two optima, the left one higher", {5000, 10000, 6000, 4000, 5000, 7500, 6000}},
      {"two optima, the right one higher", {5000, 7000, 3000, 2500, 6000, 9000, 6000, 3000, 2000}},
      {"a plateau before the optimum", {1000, 1010, 1000, 1005, 1500, 2200, 1400}},
      {"best at one", {20000, 12000, 14000, 9000, 8000, 10000, 8500}},
  };
  return kTraps;
}

struct Ends {
  int within_5 = 0;
  int under_80 = 0;
  int runs = 0;
};

Ends play_all(const SpectralSettings& settings, double noise, unsigned seeds, int samples) {
  Ends ends;
  for (const Trap& trap : traps()) {
    for (const int start : {1, 2, 16, trap.max_size()}) {
      for (unsigned seed = 1; seed <= seeds; ++seed) {
        SpectralClimber climber(settings, start, {.min = 1, .max = trap.max_size()});
        PlayedCurve curve(trap.curve(), trap.max_size(), noise, seed);
        int size = start;
        for (int i = 0; i < samples; ++i) size = curve.play(climber, size);
        const double loss = curve.loss(size, settings.price_of_thread);
        ++ends.runs;
        if (loss <= 0.05) ++ends.within_5;
        if (loss > 0.2) ++ends.under_80;
      }
    }
  }
  return ends;
}

TEST(Trap, EndsNearTheBestOfCurvesWithDipsFromEverywhere) {
  for (const double noise : {0.0, 0.06, 0.15}) {
    const Ends ends = play_all(small_server(), noise, noise > 0.0 ? 20 : 1, 360);
    EXPECT_GE(ends.within_5, ends.runs * 95 / 100) << "noise " << noise;
    EXPECT_LE(ends.under_80, ends.runs / 200) << "noise " << noise;
  }
}

TEST(Trap, WithoutTheScanADipKeepsIt) {
  SpectralSettings settings = small_server();
  settings.scan_rounds = 0;
  const Ends ends = play_all(settings, 0.06, 5, 240);
  EXPECT_GT(ends.under_80, ends.runs / 10);
}

TEST(Trap, SecondLookUpwardsIsTakenInSmallSteps) {
  SpectralClimber climber(small_server(), 4, {.min = 1, .max = 256});
  PlayedCurve curve(arch(40, 0.5), 256, 0.0);
  int size = climber.size();
  std::vector<int> sizes{size};
  while (sizes.size() < 9) sizes.push_back(size = curve.play(climber, size));
  EXPECT_EQ(sizes, (std::vector<int>{4, 8, 16, 32, 64, 128, 256, 2, 1}));
}

TEST(Trap, ScanLeavesOutSizesWithoutConnections) {
  SpectralClimber climber(small_server(), 4, {.min = 1, .max = 1024});
  PlayedCurve curve(roof(1024, 0.9, 0.5), 1024, 0.0);
  curve.connections = 20.0;
  int size = climber.size();
  for (int i = 0; i < 200; ++i) {
    size = curve.play(climber, size);
    ASSERT_LE(size, 60);
  }
}

TEST(Trap, ScanThatMeetsNobodyBeginsAnew) {
  SpectralClimber climber(small_server(), 4, {.min = 1, .max = 64});
  PlayedCurve curve(traps()[0].curve(), 64, 0.0);
  int size = climber.size();
  for (int i = 0; i < 3; ++i) size = curve.play(climber, size);
  for (int i = 0; i < 5; ++i) {
    size = climber.update({.throughput = 0.0, .connections = 0.0, .latency_s = 0.0, .size = size});
  }
  curve.play_until_held(climber, size);
  EXPECT_LE(curve.loss(size, 0.02), 0.05);
}

}  // namespace
}  // namespace poolpilot
