// Many knobs climbed at once: what is found, what a wave of each knob reads, and what must not be.
#include "climb/knobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/climb/played_curve.hpp"

namespace poolpilot {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSequences = 500;
#else
constexpr int kSequences = 20'000;
#endif

using Values = std::vector<int>;
using Surface = std::function<double(const Values&)>;

double away(int value, double from) { return std::log(value / from); }

// Every knob has an optimum of its own, whatever the others are.
double separable(const Values& at) {
  return 1000.0 / (1.0 + 0.5 * std::pow(away(at[0], 24), 2)) /
         (1.0 + 0.3 * std::pow(away(at[1], 8), 2)) / (1.0 + 0.2 * std::pow(away(at[2], 60), 2));
}

// The best value of each knob depends on its neighbour's.
double crossed(const Values& at) {
  const double x = away(at[0], 24);
  const double y = away(at[1], 8);
  const double z = away(at[2], 60);
  return 1000.0 * std::exp(-0.3 * x * x - 0.2 * y * y - 0.15 * z * z - 0.2 * x * y + 0.1 * y * z);
}

Surface powers(const std::vector<double>& exponents) {
  return [=](const Values& at) {
    double product = 1000.0;
    for (std::size_t k = 0; k < at.size(); ++k) product *= std::pow(at[k], exponents[k]);
    return product;
  };
}

const std::vector<KnobRange> kCore = {{.limits = {.min = 1, .max = 128}, .price = 0.02},
                                      {.limits = {.min = 1, .max = 32}},
                                      {.limits = {.min = 1, .max = 1000}}};
const Values kUntouched = {4, 3, 500};

Sample sample_of(double throughput) {
  return {.throughput = throughput, .connections = 64.0, .latency_s = 64.0 / throughput};
}

void play(KnobClimber& climber, const Surface& surface, int samples) {
  for (int i = 0; i < samples; ++i)
    climber.update(sample_of(surface(climber.values())), climber.values());
}

// At most `limit` samples; returns how many there were.
int play_until_held(KnobClimber& climber, const Surface& surface, int limit = 2000) {
  int played = 0;
  while (climber.mode() != Mode::kOptimized && played < limit) {
    play(climber, surface, 1);
    ++played;
  }
  return played;
}

double objective(const Surface& surface, const Values& at) {
  return std::log(surface(at)) - kCore[0].price * std::log(at[0]);
}

// 1 - exp(J - best J), the best over a grid of steps of a fifth.
double loss(const Surface& surface, const Values& at) {
  const auto next = [](int value) { return std::max(value + 1, static_cast<int>(value * 1.2)); };
  double best = objective(surface, at);
  for (int x = 1; x <= kCore[0].limits.max; x = next(x)) {
    for (int y = 1; y <= kCore[1].limits.max; y = next(y)) {
      for (int z = 1; z <= kCore[2].limits.max; z = next(z)) {
        best = std::max(best, objective(surface, {x, y, z}));
      }
    }
  }
  return 1.0 - std::exp(objective(surface, at) - best);
}

// What a climb from `start` loses where it holds.
double loss_held(const Surface& surface, const Values& start) {
  KnobClimber climber(small_server(), kCore, start);
  EXPECT_LT(play_until_held(climber, surface), 2000) << "never held";
  return loss(surface, climber.values());
}

TEST(Knobs, HoldNearTheSummitOfASurfaceWhoseKnobsDoNotInteract) {
  EXPECT_LE(loss_held(separable, kUntouched), 0.05);
  EXPECT_LE(loss_held(separable, {1, 1, 1}), 0.05);
}

TEST(Knobs, HoldNearTheSummitOfASurfaceWhoseKnobsInteract) {
  EXPECT_LE(loss_held(crossed, kUntouched), 0.05);
  EXPECT_LE(loss_held(crossed, {1, 1, 1}), 0.05);
}

// Knobs that shift one another's optimum may not chase each other for ever.
TEST(Knobs, HoldWhereverTheyStart) {
  for (const Values& start : {Values{64, 16, 300}, Values{128, 32, 1000}}) {
    EXPECT_LE(loss_held(separable, start), 0.05);
    EXPECT_LE(loss_held(crossed, start), 0.05);
  }
}

// Elasticities that the first window reads, one sample of settling before it.
std::vector<double> first_ratios(const std::vector<double>& exponents) {
  KnobClimber climber(small_server(), kCore, {32, 12, 200});
  play(climber, powers(exponents), 17);
  return climber.ratios();
}

TEST(Ratios, AreTheElasticityOfEachKnobAlone) {
  for (const auto& exponents : {std::vector<double>{0.5, 0.0, 0.0},
                                {0.0, -0.4, 0.0},
                                {0.0, 0.0, 0.3},
                                {0.4, -0.3, 0.2},
                                {-0.6, 0.6, -0.6}}) {
    const std::vector<double> ratios = first_ratios(exponents);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(ratios[k], exponents[k], 0.04) << k;
    }
  }
}

TEST(Ratios, OfOneKnobAreTheSameWhateverTheOthersDo) {
  for (const double first : {-0.6, 0.0, 0.6}) {
    for (const double last : {-0.6, 0.0, 0.6}) {
      EXPECT_NEAR(first_ratios({first, 0.3, last})[1], first_ratios({0.0, 0.3, 0.0})[1], 0.02);
    }
  }
}

TEST(Knobs, OneThatDoesNothingStaysWhereItIs) {
  const Surface idle = [](const Values& at) { return separable({at[0], 8, at[2]}); };
  KnobClimber climber(small_server(), kCore, {4, 5, 500});
  play_until_held(climber, idle);
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
  EXPECT_EQ(climber.values()[1], 5);
  EXPECT_LE(loss(idle, climber.values()), 0.05);
}

TEST(Knobs, FlatSurfaceIsHeldWhereItStarts) {
  KnobClimber climber(small_server(), kCore, kUntouched);
  play_until_held(climber, [](const Values&) { return 1000.0; });
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
  EXPECT_EQ(climber.values(), kUntouched);
}

TEST(Knobs, OneAloneIsClimbed) {
  const Surface alone = [](const Values& at) { return arch(32, 0.5)(at[0]); };
  KnobClimber climber(small_server(), {{.limits = {.min = 1, .max = 64}, .price = 0.02}}, {4});
  play_until_held(climber, alone);
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
  EXPECT_LE(PlayedCurve(arch(32, 0.5), 64, 0.0).loss(climber.values()[0], 0.02), 0.05);
}

TEST(Knobs, OneOfASingleValueIsLeftAloneBesideOthers) {
  std::vector<KnobRange> knobs = kCore;
  knobs[1].limits = {.min = 3, .max = 3};
  const Surface fixed = [](const Values& at) { return separable({at[0], 8, at[2]}); };
  KnobClimber climber(small_server(), knobs, kUntouched);
  for (int i = 0; i < 2000 && climber.mode() != Mode::kOptimized; ++i) {
    play(climber, fixed, 1);
    ASSERT_EQ(climber.values()[1], 3);
  }
  EXPECT_LE(loss(fixed, climber.values()), 0.05);
}

TEST(Knobs, ShiftWhileHoldingRestartsTheClimb) {
  KnobClimber climber(small_server(), kCore, kUntouched);
  play_until_held(climber, separable);
  play(climber, separable, 60);
  ASSERT_EQ(climber.mode(), Mode::kOptimized);
  const Values held = climber.values();
  const Surface shifted = [](const Values& at) { return separable({at[0] * 5, at[1], at[2]}); };
  int played = 0;
  while (climber.mode() == Mode::kOptimized && ++played < 40) play(climber, shifted, 1);
  EXPECT_EQ(climber.reason(), Reason::kThroughputLeft);
  play_until_held(climber, shifted);
  EXPECT_LT(climber.values()[0], held[0] / 2);
  EXPECT_LE(loss(shifted, climber.values()), 0.05);
}

// A pool keeps the threads of a larger size for a while: every wave looks flat.
TEST(Knobs, SummitThatOnlyTheirWavesHeldUpIsLeft) {
  std::vector<int> latest(6, 1);
  const Surface slow = [&](const Values& at) {
    std::rotate(latest.begin(), latest.begin() + 1, latest.end());
    latest.back() = at[0];
    return 100.0 * std::min(*std::max_element(latest.begin(), latest.end()), 64);
  };
  KnobClimber climber(small_server(), kCore, {1, 3, 500});
  play_until_held(climber, slow);
  EXPECT_LT(climber.values()[0], 8);
  for (int i = 0; i < 100 && climber.mode() == Mode::kOptimized; ++i) play(climber, slow, 1);
  EXPECT_EQ(climber.reason(), Reason::kFalseSummit);
  play(climber, slow, 600);
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
  EXPECT_GE(climber.values()[0], 32);
}

TEST(Knobs, ForcedValuesAreWhereItStartsAgain) {
  KnobClimber climber(small_server(), kCore, kUntouched);
  play_until_held(climber, separable);
  const Values forced = {40, 2, 90};
  const Values asked = climber.update(sample_of(700.0), forced);
  EXPECT_EQ(climber.reason(), Reason::kForced);
  EXPECT_EQ(climber.mode(), Mode::kUsual);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    EXPECT_LE(asked[k], forced[k]);
    EXPECT_GE(2 * asked[k], forced[k]);
  }
  play_until_held(climber, separable);
  EXPECT_LE(loss(separable, climber.values()), 0.05);
}

TEST(Knobs, NothingIsDecidedWhileThereIsTooLittleThroughput) {
  KnobClimber climber(small_server(), kCore, kUntouched);
  const Values first = climber.values();
  for (int i = 0; i < 100; ++i) {
    const Sample idle{.throughput = 0.5, .connections = 64.0, .latency_s = 0.01};
    ASSERT_EQ(climber.update(idle, climber.values()), first);
    ASSERT_EQ(climber.reason(), Reason::kTooLow);
  }
}

TEST(Knobs, SlowServerOnWhichRequestsWaitIsClimbed) {
  KnobClimber climber(small_server(), kCore, kUntouched);
  for (int i = 0; i < 20; ++i) climber.update(sample_of(0.5), climber.values());
  EXPECT_NE(climber.reason(), Reason::kTooLow);
}

// A copy of a vector has a capacity of its own.
TEST(Knobs, ACopyClimbsAsTheOriginalDoes) {
  const auto rough = [random = std::mt19937_64(1)](const Values& at) mutable {
    return crossed(at) * std::lognormal_distribution(0.0, 0.3)(random);
  };
  KnobClimber climber(small_server(), kCore, kUntouched);
  const Surface seen = rough;
  play(climber, seen, 3);
  KnobClimber copy = climber;
  const Surface seen_by_copy = seen;
  for (int i = 0; i < 500; ++i) {
    play(climber, seen, 1);
    play(copy, seen_by_copy, 1);
    ASSERT_EQ(copy.values(), climber.values()) << "sample " << i;
    ASSERT_EQ(copy.mode(), climber.mode()) << "sample " << i;
  }
}

TEST(Knobs, WrongNumberOfThemAndValuesOutOfRangeAreRefused) {
  const KnobRange range{.limits = {.min = 1, .max = 8}};
  const auto refused = [&](std::vector<KnobRange> knobs, const Values& values) {
    EXPECT_THROW(KnobClimber(small_server(), std::move(knobs), values), std::invalid_argument);
  };
  refused({}, {});
  refused({range, range, range, range, range}, {1, 1, 1, 1, 1});
  refused({range, range}, {1});
  refused({range, range}, {1, 9});
  refused({range, range}, {0, 1});
  refused({{.limits = {.min = 5, .max = 2}}}, {3});
  EXPECT_NO_THROW(KnobClimber(small_server(), {range, range, range, range}, {1, 8, 1, 8}));
  SpectralSettings settings = small_server();
  settings.confidence = -1.0;
  EXPECT_THROW(KnobClimber(settings, {range}, {1}), std::invalid_argument);
}

// Mostly plausible samples, so that every mode is reached; now and then anything at all.
class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : random_(seed) {}

  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }

  std::vector<KnobRange> knobs() {
    std::vector<KnobRange> found(static_cast<std::size_t>(1 + below(4)));
    for (KnobRange& knob : found) {
      knob.limits.min = 1 + below(3);
      knob.limits.max = knob.limits.min + below(below(16) == 0 ? 2'000'000'000 : 100);
      knob.price = 0.01 * below(4);
    }
    return found;
  }

  Values inside(const std::vector<KnobRange>& knobs) {
    Values found;
    for (const KnobRange& knob : knobs) {
      found.push_back(knob.limits.min + below(knob.limits.max - knob.limits.min + 1));
    }
    return found;
  }

  Sample sample(int size) {
    Sample sample{.throughput = 500.0 + below(1000) + 10.0 * size,
                  .connections = 1.0 + below(4) * 100.0,
                  .latency_s = 0.001 * (1 + below(50)),
                  .duration_s = 0.0};
    if (below(12) == 0) sample.throughput = number();
    if (below(30) == 0) sample.connections = number();
    if (below(30) == 0) sample.latency_s = number();
    if (below(30) == 0) sample.duration_s = number();
    return sample;
  }

  // Any number of values of any size.
  Values forced() {
    Values found(static_cast<std::size_t>(below(6)));
    constexpr int kValues[] = {std::numeric_limits<int>::min(), -1, 0, 1, 7, 2'000'000'000};
    for (int& value : found) value = kValues[below(std::size(kValues))];
    return found;
  }

 private:
  double number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNumbers[] = {
        0.0,   -0.0, -1.0,      1.0,        1e-300,
        1e300, 1e9,  kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
    return kNumbers[below(std::size(kNumbers))];
  }

  std::mt19937_64 random_;
};

TEST(Knobs, NoSequenceOfSamplesLeadsOutOfTheRanges) {
  Hostile hostile(7);
  int held = 0;
  for (int sequence = 0; sequence < kSequences; ++sequence) {
    const std::vector<KnobRange> knobs = hostile.knobs();
    KnobClimber climber(small_server(), knobs, hostile.inside(knobs));
    for (int i = 0; i < 120; ++i) {
      const Values in_force = hostile.below(40) == 0 ? hostile.forced() : climber.values();
      const Values asked =
          climber.update(hostile.sample(std::min(climber.values()[0], 5000)), in_force);
      ASSERT_EQ(asked.size(), knobs.size());
      for (std::size_t k = 0; k < knobs.size(); ++k) {
        ASSERT_GE(asked[k], knobs[k].limits.min) << sequence;
        ASSERT_LE(asked[k], knobs[k].limits.max) << sequence;
      }
    }
    held += climber.mode() == Mode::kOptimized;
  }
  EXPECT_GT(held, 0);
  EXPECT_LT(held, kSequences);
}

}  // namespace
}  // namespace poolpilot
