#include "climb/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace poolpilot {
namespace {

std::complex<double> direct_sum(const std::vector<double>& series, std::size_t cycles) {
  std::complex<double> sum = 0.0;
  const auto length = static_cast<double>(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double angle = -2.0 * std::numbers::pi * static_cast<double>(cycles * i) / length;
    sum += series[i] * std::polar(1.0, angle);
  }
  return sum / length;
}

std::vector<double> square_wave(std::size_t periods, double low, double high) {
  std::vector<double> wave;
  for (std::size_t i = 0; i < 4 * periods; ++i) wave.push_back(i / 2 % 2 == 0 ? low : high);
  return wave;
}

TEST(ComponentAt, EqualsTheDirectFourierSumInEveryBin) {
  const std::vector<double> series = {3.0, -1.0, 4.0, 1.5, -5.0, 9.0,
                                      2.0, -6.0, 5.0, 3.5, 8.0,  0.0};
  for (std::size_t cycles = 0; cycles <= series.size() / 2; ++cycles) {
    const auto expected = direct_sum(series, cycles);
    const auto actual = component_at(series, cycles);
    EXPECT_NEAR(actual.real(), expected.real(), 1e-12) << cycles;
    EXPECT_NEAR(actual.imag(), expected.imag(), 1e-12) << cycles;
  }
}

TEST(ComponentAt, StrictWaveLeavesTheOtherBinsEmpty) {
  const auto wave = square_wave(8, 10.0, 14.0);
  EXPECT_NEAR(std::abs(component_at(wave, 8)), 4.0 * std::sqrt(2.0) / 4.0, 1e-12);
  for (const std::size_t away : {4U, 5U, 6U, 7U, 9U, 10U, 11U, 12U}) {
    EXPECT_NEAR(std::abs(component_at(wave, away)), 0.0, 1e-12) << away;
  }
}

TEST(NeighbourNoise, StrictWaveShowsNone) {
  EXPECT_NEAR(neighbour_noise(square_wave(8, 100.0, 102.0), 8).variance, 0.0, 1e-20);
}

TEST(NeighbourNoise, OnePeriodHasNoNeighbours) {
  EXPECT_EQ(neighbour_noise(square_wave(1, 100.0, 102.0), 1).freedom, 0.0);
}

TEST(NeighbourNoise, IsTheVarianceOfWhiteNoiseOnAverage) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  double variance = 0.0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    auto series = square_wave(8, 100.0, 120.0);
    for (double& value : series) value *= 1.0 + 0.05 * normal(random);
    variance += neighbour_noise(series, 8).variance / kRuns;
  }
  EXPECT_NEAR(std::sqrt(variance), 0.05, 0.003);
}

}  // namespace
}  // namespace poolpilot
