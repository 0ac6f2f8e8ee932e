// A baseline climber played against a curve of throughput over size, and against hostile samples.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "climb/climber.hpp"

namespace poolpilot::baseline {

using Throughput = std::function<double(int size)>;

// Falls off on both sides of an optimum: its elasticity is `steepness` x ln(optimum / size).
inline Throughput hill(double optimum, double steepness, double top = 1e5) {
  return [=](int size) {
    const double away = std::log(size / optimum);
    return top * std::exp(-0.5 * steepness * away * away);
  };
}

// Grows with a constant elasticity.
inline Throughput slope(double elasticity, double first = 1e4) {
  return [=](int size) { return first * std::pow(size, elasticity); };
}

// Rises in proportion up to the knee and stays there.
inline Throughput knee(int at, double top = 1e5) {
  return [=](int size) { return size < at ? top * size / at : top; };
}

// Uniform noise of the given standard deviation: the standard's distributions differ between
// libraries.
class Noise {
 public:
  explicit Noise(double deviation, unsigned seed = 1) : deviation_(deviation), random_(seed) {}

  double factor() {
    const double uniform = static_cast<double>(random_() >> 11) / 9007199254740992.0;
    return 1.0 + deviation_ * std::sqrt(12.0) * (uniform - 0.5);
  }

 private:
  double deviation_;
  std::mt19937_64 random_;
};

// Plays `samples` samples and returns the sizes asked for.
inline std::vector<int> play(Climber& climber, const Throughput& curve, int samples,
                             Noise noise = Noise(0.0)) {
  std::vector<int> sizes;
  for (int i = 0; i < samples; ++i) {
    const double throughput = curve(climber.size()) * noise.factor();
    sizes.push_back(climber.update({.throughput = throughput, .size = climber.size()}));
  }
  return sizes;
}

// Seeded samples of which many are impossible or absurd.
class HostileSamples {
 public:
  explicit HostileSamples(unsigned seed) : random_(seed) {}

  Sample next(int size) {
    return {.throughput = value(),
            .connections = value(),
            .latency_s = value(),
            .size = random_() % 3 == 0 ? sizes_[random_() % 6] : size,
            .duration_s = random_() % 2 == 0 ? 0.0 : value()};
  }

 private:
  double value() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kLargest = std::numeric_limits<double>::max();
    constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
    const double values[] = {std::nan(""), kInfinity, -kInfinity, kLargest, kSmallest, -1.0};
    const int choice = static_cast<int>(random_() % 24);
    if (choice < 6) return values[choice];
    return choice < 10 ? 0.0 : std::ldexp(static_cast<double>(random_() % 1000), choice - 10);
  }

  static constexpr int sizes_[] = {0, -7, 1, 40, 2000, std::numeric_limits<int>::max()};
  std::mt19937_64 random_;
};

// Two climbers of the same make are told the same hostile samples.
template <typename Baseline, typename Settings>
void survives_hostile_samples(const Settings& settings) {
  EXPECT_THROW(Baseline(settings, 65, {1, 64}), std::invalid_argument);
  const SizeLimits all_limits[] = {{1, 64}, {3, 3}, {5, 6}, {1, std::numeric_limits<int>::max()}};
  for (const SizeLimits limits : all_limits) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      HostileSamples samples(seed);
      Baseline first(settings, limits.min, limits);
      Baseline second(settings, limits.min, limits);
      for (int i = 0; i < 2000; ++i) {
        const Sample sample = samples.next(first.size());
        const int size = first.update(sample);
        ASSERT_EQ(size, second.update(sample));
        ASSERT_GE(size, limits.min);
        ASSERT_LE(size, limits.max);
        ASSERT_TRUE(std::isfinite(first.period_s()));
      }
    }
  }
}

}  // namespace poolpilot::baseline
