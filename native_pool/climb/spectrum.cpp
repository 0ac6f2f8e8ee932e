#include "climb/spectrum.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace poolpilot {
namespace {

double mean_of(std::span<const double> series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

}  // namespace

std::complex<double> component_at(std::span<const double> series, std::size_t cycles) {
  const auto length = static_cast<double>(series.size());
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(cycles) / length;
  const double twice_cosine = 2.0 * std::cos(angle);
  double latest = 0.0;
  double before = 0.0;
  for (const double value : series) {
    const double next = value + twice_cosine * latest - before;
    before = latest;
    latest = next;
  }
  // Over a whole number of cycles the recurrence ends one sample ahead: e^(ia) q1 - q2.
  const std::complex<double> turn(std::cos(angle), std::sin(angle));
  return (turn * latest - before) / length;
}

WaveResponse wave_response(std::span<const double> sizes, std::span<const double> throughputs,
                           std::size_t cycles) {
  const double mean_throughput = mean_of(throughputs);
  const auto size_wave = component_at(sizes, cycles) / mean_of(sizes);
  const auto throughput_wave = component_at(throughputs, cycles) / mean_throughput;
  const std::size_t reach = cycles / 2;
  double power = 0.0;
  for (std::size_t away = 1; away <= reach; ++away) {
    power += std::norm(component_at(throughputs, cycles - away)) +
             std::norm(component_at(throughputs, cycles + away));
  }
  power /= 2.0 * static_cast<double>(reach) * mean_throughput * mean_throughput;
  return {.ratio = (throughput_wave / size_wave).real(),
          .size_component = std::abs(size_wave),
          .noise_variance = power * static_cast<double>(sizes.size()),
          .freedom = 4.0 * static_cast<double>(reach),
          .samples = sizes.size()};
}

}  // namespace poolpilot
