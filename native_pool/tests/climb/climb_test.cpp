// The climber on whole curves: does it end near the optimum, from everywhere, in the noise?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/climb/played_curve.hpp"

namespace poolpilot {
namespace {

// The smallest size of the best objective of a curve, by trying them all.
int best_size(const PlayedCurve& curve, int max_size, double price) {
  int best = 1;
  for (int size = 2; size <= max_size; ++size) {
    if (curve.loss(size, price) < curve.loss(best, price)) best = size;
  }
  return best;
}

// So many starts, evenly spaced in logarithms from 1 to `max_size`, both included.
std::vector<int> starts(int max_size, int count) {
  std::vector<int> found;
  for (int i = 0; i < count; ++i) {
    found.push_back(static_cast<int>(std::lround(std::pow(max_size, i / (count - 1.0)))));
  }
  return found;
}

struct Shape {
  std::string name;
  std::function<Curve(double optimum)> at;
  bool plateau;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"arch", [](double optimum) { return arch(optimum, 0.5); }, false},
      {"roof", [](double optimum) { return roof(optimum, 0.9, 0.5); }, false},
      {"collapse", [](double optimum) { return roof(optimum, 0.9, 1.5, 1e6); }, false},
      {"knee", [](double optimum) { return knee(optimum, 1e6); }, true},
      {"soft knee", [](double optimum) { return soft_knee(optimum); }, false}};
  return kShapes;
}

class NoiselessClimb : public testing::TestWithParam<int> {};

TEST_P(NoiselessClimb, EndsAtTheOptimumFromEverywhere) {
  const int max_size = GetParam();
  const double price = small_server().price_of_thread;
  for (const Shape& shape : shapes()) {
    for (const double share : {0.0, 0.1, 1.0 / 3.0, 0.7, 1.0}) {
      const double optimum = std::max(1.0, std::round(share * max_size));
      PlayedCurve curve(shape.at(optimum), max_size, 0.0);
      const int best = best_size(curve, max_size, price);
      for (const int start : starts(max_size, 20)) {
        SpectralClimber climber(small_server(), start, {.min = 1, .max = max_size});
        int size = climber.size();
        const int played = curve.play_until_held(climber, size);
        const std::string where = shape.name + " at " + std::to_string(optimum) + " of " +
                                  std::to_string(max_size) + " from " + std::to_string(start);
        EXPECT_EQ(climber.mode(), Mode::kOptimized) << where;
        EXPECT_LE(played, 200) << where;
        const bool near = std::abs(size - best) <= std::max(1.0, 0.02 * best);
        EXPECT_TRUE(near || curve.loss(size, price) <= 0.01) << where << " ends at " << size;
        if (shape.plateau) {
          EXPECT_LE(std::abs(size - best), std::max(1.0, 0.1 * best)) << where;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scales, NoiselessClimb,
                         testing::Values(2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024));

// Nine climbs of ten: a wave may always be misread, and how often is what the noise decides.
TEST(SpectralClimber, InNoiseNineOfTenEndWithinTenPercentOfTheOptimum) {
  constexpr unsigned kSeeds = 40;
  for (const double noise : {0.05, 0.10}) {
    for (const Shape& shape : shapes()) {
      for (const int max_size : {16, 64, 1024}) {
        const int optimum = max_size / 3;
        for (const int start : starts(max_size, 3)) {
          unsigned near = 0;
          for (unsigned seed = 1; seed <= kSeeds; ++seed) {
            SpectralClimber climber(small_server(), start, {.min = 1, .max = max_size});
            PlayedCurve curve(shape.at(optimum), max_size, noise, seed);
            int size = climber.size();
            curve.play_until_held(climber, size);
            EXPECT_EQ(climber.mode(), Mode::kOptimized) << shape.name << " seed " << seed;
            if (curve.loss(size, 0.02) <= 0.10) ++near;
          }
          EXPECT_GE(near, kSeeds * 9 / 10)
              << shape.name << " of " << max_size << " from " << start << " noise " << noise;
        }
      }
    }
  }
}

TEST(SpectralClimber, TrubsMethodAndAFixedIntervalFindItToo) {
  SpectralSettings article = SpectralSettings::article();
  article.hcm_hillclimbing_enabled = true;
  SpectralSettings fixed = small_server();
  fixed.hcm_min_period = fixed.hcm_period;
  for (const SpectralSettings& settings : {article, fixed}) {
    SpectralClimber climber(settings, 40, {.min = 1, .max = 128});
    PlayedCurve curve(arch(60, 0.5), 128, 0.0);
    int size = climber.size();
    curve.play_until_held(climber, size);
    EXPECT_EQ(climber.mode(), Mode::kOptimized);
    EXPECT_LE(curve.loss(size, 0.02), 0.02);
  }
}

TEST(SpectralClimber, ReachesAFarSummitInSomeTensOfSamplesOnAClearSlope) {
  SpectralClimber climber(without_scan(), 2, {.min = 1, .max = 64});
  PlayedCurve curve(roof(32, 0.9, 0.5), 64, 0.0);
  int size = climber.size();
  int played = 0;
  while (size < 32 && played < 60) {
    size = curve.play(climber, size);
    ++played;
  }
  EXPECT_GE(size, 32);
  EXPECT_LE(played, 45);
}

TEST(SpectralClimber, GoesDownToOneWhereEveryThreadHurts) {
  SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 64});
  PlayedCurve curve(roof(1, 1.0, 0.3), 64, 0.0);
  int size = climber.size();
  EXPECT_LE(curve.play_until_held(climber, size), 40);
  EXPECT_EQ(size, 1);
}

TEST(SpectralClimber, WalksThePlateauLeftToTheKnee) {
  SpectralClimber climber(without_scan(), 64, {.min = 1, .max = 64});
  PlayedCurve curve(knee(8), 64, 0.0);
  int size = climber.size();
  curve.play_until_held(climber, size);
  EXPECT_EQ(size, 8);
  EXPECT_TRUE(logged(climber, "plateau: walk left"));
}

TEST(SpectralClimber, PriceOfThreadsMovesTheAnswerLeft) {
  const Curve slow_rise = roof(64, 0.1, 1.0);
  std::vector<int> ends;
  for (const double price : {0.02, 0.3}) {
    SpectralSettings settings = small_server();
    settings.price_of_thread = price;
    SpectralClimber climber(settings, 16, {.min = 1, .max = 64});
    PlayedCurve curve(slow_rise, 64, 0.0);
    int size = climber.size();
    curve.play_until_held(climber, size);
    ends.push_back(size);
  }
  EXPECT_GE(ends[0], 63);
  EXPECT_EQ(ends[1], 1);
}

TEST(SpectralClimber, WaveGrowsWithTheNoise) {
  std::vector<double> widest;
  for (const double noise : {0.02, 0.15}) {
    SpectralClimber climber(without_scan(), 100, {.min = 1, .max = 1024});
    PlayedCurve curve(arch(400, 0.4), 1024, noise, 7);
    int size = climber.size();
    double reach = 0.0;
    for (int i = 0; i < 120 && climber.mode() != Mode::kOptimized; ++i) {
      size = curve.play(climber, size);
      const ClimbRecord& record = climber.journal().latest();
      reach = std::max(reach, static_cast<double>(record.wave_high) / record.wave_low);
    }
    widest.push_back(reach - 1.0);
  }
  EXPECT_GT(widest[1], 2.0 * widest[0]);
}

TEST(SpectralClimber, IntervalIsAsShortAsTheNoiseAllows) {
  std::vector<double> intervals;
  for (const double noise : {0.0, 0.02, 0.2}) {
    SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 1024});
    PlayedCurve curve(roof(300, 0.9, 0.5), 1024, noise, 3);
    int size = climber.size();
    for (int i = 0; i < 200; ++i) size = curve.play(climber, size);
    intervals.push_back(climber.period_s());
  }
  EXPECT_EQ(intervals[0], small_server().hcm_min_period);
  EXPECT_EQ(intervals[1], small_server().hcm_min_period);
  EXPECT_GT(intervals[2], 4 * small_server().hcm_min_period);
}

TEST(SpectralClimber, SameSamplesGiveTheSameClimb) {
  std::vector<int> sizes[2];
  for (auto& trace : sizes) {
    SpectralClimber climber(small_server(), 8, {.min = 1, .max = 64});
    PlayedCurve curve(arch(32, 0.5), 64, 0.1, 3);
    int size = climber.size();
    for (int i = 0; i < 300; ++i) {
      trace.push_back(size);
      size = curve.play(climber, size);
    }
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

}  // namespace
}  // namespace poolpilot
