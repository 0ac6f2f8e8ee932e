#include "climb/spectrum.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace poolpilot {
double mean_of(std::span<const double> series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

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

std::complex<double> relative_component(std::span<const double> series, std::size_t cycles) {
  return component_at(series, cycles) / mean_of(series);
}

Neighbours neighbour_noise(std::span<const double> series, std::size_t cycles) {
  const std::size_t reach = cycles / 2;
  if (reach == 0) return {};
  const double mean = mean_of(series);
  double power = 0.0;
  for (std::size_t away = 1; away <= reach; ++away) {
    power += std::norm(component_at(series, cycles - away)) +
             std::norm(component_at(series, cycles + away));
  }
  const auto bins = 2.0 * static_cast<double>(reach);
  return {.variance = power / bins / (mean * mean) * static_cast<double>(series.size()),
          .freedom = 2.0 * bins};
}

}  // namespace poolpilot
