// What the climber must survive, whatever comes in.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "tests/climb/played_curve.hpp"
#include "tests/environment.hpp"

namespace poolpilot {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSequences = 20'000;
#else
constexpr int kSequences = 100'000;  // POOLPILOT_SEQUENCES=1000000 takes a minute
#endif

// Mostly plausible samples, so that every mode is reached; now and then anything at all.
class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : random_(seed) {}

  int below(int limit) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(std::max(limit, 1)));
  }

  double number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNumbers[] = {
        0.0,   -0.0, -1.0,      1.0,        1e-300,
        1e300, 1e9,  kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
    return kNumbers[below(std::size(kNumbers))];
  }

  int size() {
    constexpr int kSizes[] = {std::numeric_limits<int>::min(), -1, 0, 1, 5, 3000, 2'000'000'000};
    return kSizes[below(std::size(kSizes))];
  }

  Sample sample(int size_in_force) {
    Sample sample{.throughput = 500.0 + below(1000) + 10.0 * size_in_force,
                  .connections = 1.0 + below(4) * 100.0,
                  .latency_s = 0.001 * (1 + below(50)),
                  .size = size_in_force,
                  .duration_s = 0.0};
    if (below(12) == 0) sample.throughput = number();
    if (below(30) == 0) sample.connections = number();
    if (below(30) == 0) sample.latency_s = number();
    if (below(30) == 0) sample.duration_s = number();
    if (below(25) == 0) sample.size = size();
    return sample;
  }

  SpectralSettings settings() {
    SpectralSettings settings = below(8) == 0 ? SpectralSettings::article() : small_server();
    settings.hcm_hillclimbing_enabled = below(20) != 0;
    settings.hcm_log_enabled = false;
    settings.min_accepted_throughput = 1.0;
    settings.samples_to_wave_period_ratio = 2 + below(8);
    settings.hcm_quick_exit_samples = below(9);
    settings.hcm_min_thread_wave_magnitude = below(3) == 0 ? 80.0 : 10.0;
    settings.hcm_hiccup = 0.1 * below(10);
    return settings;
  }

 private:
  std::mt19937_64 random_;
};

TEST(Input, SlowLooksAtAChokedServerEndTheScanOfItsSize) {
  const SpectralSettings settings = small_server();
  SpectralClimber climber(settings, 8, {.min = 1, .max = 64});
  const double slow_s = 2.0 * kClockJump * settings.hcm_period;
  int size = climber.size();
  int smallest = size;
  for (int i = 0; i < 20; ++i) {
    size = climber.update({.throughput = 100.0 * size,
                           .connections = 200.0,
                           .latency_s = 1.0,
                           .size = size,
                           .duration_s = size < 4 ? slow_s : 0.5});
    smallest = std::min(smallest, size);
  }
  EXPECT_LT(smallest, 4);
  EXPECT_GE(size, 4);
}

TEST(Input, NoSequenceOfSamplesLeadsOutOfTheLimits) {
  Hostile hostile(5);
  const int sequences = number_from_environment("POOLPILOT_SEQUENCES", kSequences);
  for (int sequence = 0; sequence < sequences; ++sequence) {
    const int min_size = 1 + hostile.below(4);
    const int room = sequence % 64 == 0 ? 2'000'000'000 : sequence % 4 == 0 ? 2000 : 6;
    const int max_size = min_size + hostile.below(room);
    const int start = min_size + hostile.below(max_size - min_size + 1);
    SpectralClimber climber(hostile.settings(), start, {.min = min_size, .max = max_size},
                            sequence % 3 == 0);
    for (int i = 0; i < 40; ++i) {
      if (hostile.below(60) == 0) climber.adopt(hostile.settings());
      const int size = climber.update(hostile.sample(climber.size()));
      ASSERT_GE(size, min_size) << sequence;
      ASSERT_LE(size, max_size) << sequence;
      ASSERT_EQ(size, climber.size());
    }
  }
}

TEST(Input, FlawedSamplesChangeNothingAndSayWhy) {
  Held held;
  const int size = held.size;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto told = [&](Sample sample) {
    EXPECT_EQ(held.climber.update(sample), size);
    EXPECT_EQ(held.climber.mode(), Mode::kOptimized);
    EXPECT_STREQ(decision_of(held.climber.journal().latest().reason), "drop");
    return held.climber.journal().latest().text();
  };
  EXPECT_EQ(told({nan, 64.0, 0.1, size, 0.0}),
            "the sample is dropped: its throughput is absent, negative or not finite");
  EXPECT_NE(told({-1.0, 64.0, 0.1, size, 0.0}).find("throughput"), std::string::npos);
  EXPECT_NE(told({900.0, -1.0, 0.1, size, 0.0}).find("connections"), std::string::npos);
  EXPECT_NE(told({900.0, 64.0, nan, size, 0.0}).find("latency"), std::string::npos);
  EXPECT_NE(told({900.0, 64.0, 0.1, 0, 0.0}).find("pool size"), std::string::npos);
  EXPECT_NE(told({900.0, 64.0, 0.1, size, -1.0}).find("clock"), std::string::npos);
  EXPECT_NE(told({900.0, 64.0, 0.1, size, 86400.0}).find("clock"), std::string::npos);
}

TEST(Input, HoleInAWaveStartsTheWaveAgain) {
  SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 64});
  PlayedCurve curve(arch(32, 0.5), 64, 0.0);
  int size = climber.size();
  for (int i = 0; i < 4; ++i) size = curve.play(climber, size);
  ASSERT_GT(size, 8);
  EXPECT_EQ(climber.update({std::nan(""), 64.0, 0.1, size, 0.0}), 8);
}

TEST(Input, SizesOutsideTheLimitsAreRefused) {
  EXPECT_THROW(SpectralClimber(small_server(), 9, {.min = 1, .max = 8}), std::invalid_argument);
  EXPECT_THROW(SpectralClimber(small_server(), 0, {.min = 0, .max = 8}), std::invalid_argument);
}

TEST(Input, OnlySizeThereIsIsHeldAtOnce) {
  const SpectralClimber climber(small_server(), 4, {.min = 4, .max = 4});
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
}

TEST(SwitchedOff, LeavesEverySizeAloneAndCanBeSwitchedOn) {
  SpectralSettings settings = small_server();
  settings.hcm_hillclimbing_enabled = false;
  SpectralClimber climber(settings, 8, {.min = 1, .max = 64});
  PlayedCurve curve(arch(32, 0.5), 64, 0.0);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(curve.play(climber, 10), 10);
  climber.adopt(small_server());
  int size = 10;
  curve.play_until_held(climber, size);
  EXPECT_LE(curve.loss(size, 0.02), 0.01);
}

TEST(Adopt, InMidWaveIsNotTakenForAChangeFromOutside) {
  SpectralSettings settings = small_server();
  settings.samples_to_wave_period_ratio = 4;
  for (const int samples : {3, 5, 7, 12}) {
    SpectralClimber climber(small_server(), 8, {.min = 1, .max = 64});
    PlayedCurve curve(arch(32, 0.5), 64, 0.0);
    int size = 8;
    for (int i = 0; i < samples; ++i) size = curve.play(climber, size);
    climber.adopt(settings);
    for (int i = 0; i < 4; ++i) {
      size = curve.play(climber, size);
      EXPECT_NE(climber.journal().latest().reason, Reason::kForced) << samples;
    }
  }
}

TEST(Adopt, TakesOtherSettingsWhileRunningAndKeepsTheOldOnesIfTheyAreRefused) {
  Held held;
  SpectralSettings settings = small_server();
  settings.price_of_thread = 0.1;
  held.climber.adopt(settings);
  EXPECT_EQ(held.climber.mode(), Mode::kOptimized);
  EXPECT_EQ(held.climber.settings().price_of_thread, 0.1);
  settings.confidence = -1.0;
  EXPECT_THROW(held.climber.adopt(settings), std::invalid_argument);
  EXPECT_EQ(held.climber.settings().confidence, 1.5);
  for (int i = 0; i < 50; ++i) held.size = held.curve.play(held.climber, held.size);
  EXPECT_EQ(held.climber.mode(), Mode::kOptimized);
}

}  // namespace
}  // namespace poolpilot
