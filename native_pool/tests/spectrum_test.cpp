#include "climb/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "climb/noise.hpp"

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

TEST(WaveResponse, RatioIsTheElasticityWithItsSign) {
  for (const double elasticity : {-0.8, -0.1, 0.0, 0.3, 1.0}) {
    const auto sizes = square_wave(8, 100.0, 102.0);
    auto throughputs = sizes;
    for (double& value : throughputs) value = 500.0 * std::pow(value / 100.0, elasticity);
    const auto response = wave_response(sizes, throughputs, 8);
    EXPECT_NEAR(response.ratio, elasticity, 1e-3);
    EXPECT_NEAR(response.noise_variance, 0.0, 1e-20);
  }
}

TEST(WaveResponse, ResponseLateByAQuarterPeriodShowsNoTrend) {
  const auto sizes = square_wave(4, 10.0, 20.0);
  std::vector<double> throughputs(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    throughputs[i] = sizes[(i + sizes.size() - 1) % sizes.size()];
  }
  EXPECT_NEAR(wave_response(sizes, throughputs, 4).ratio, 0.0, 1e-12);
}

TEST(WaveResponse, SlowDriftCountsAsNoise) {
  const auto sizes = square_wave(2, 10.0, 12.0);
  std::vector<double> throughputs;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    throughputs.push_back(100.0 + 5.0 * static_cast<double>(i));
  const auto response = wave_response(sizes, throughputs, 2);
  Noise noise;
  EXPECT_LT(std::abs(response.ratio), 2.0 * noise.standard_error(response));
}

TEST(Noise, FewDegreesOfFreedomWidenTheError) {
  const WaveResponse response{
      .ratio = 0.0, .size_component = 0.1, .noise_variance = 0.01, .freedom = 4.0, .samples = 8};
  Noise fresh;
  Noise seasoned;
  for (int window = 0; window < 20; ++window) seasoned.absorb(response);
  EXPECT_NEAR(seasoned.deviation(), 0.1, 1e-12);
  EXPECT_LT(seasoned.standard_error(response), 0.8 * fresh.standard_error(response));
}

TEST(Noise, FollowsANoiseThatHasChanged) {
  WaveResponse response{
      .ratio = 0.0, .size_component = 0.1, .noise_variance = 0.01, .freedom = 16.0, .samples = 32};
  Noise noise;
  for (int window = 0; window < 20; ++window) noise.absorb(response);
  response.noise_variance = 0.0001;
  for (int window = 0; window < 20; ++window) noise.absorb(response);
  EXPECT_NEAR(noise.deviation(), 0.01, 0.005);
}

}  // namespace
}  // namespace poolpilot
