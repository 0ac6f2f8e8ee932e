#include "climb/echo.hpp"

#include <limits>
#include <numeric>

#include "climb/spectrum.hpp"

namespace poolpilot {

Echo::Echo(const SpectralSettings& settings) : window_(settings.full_window()) {
  sizes_.reserve(static_cast<std::size_t>(window_));
  throughputs_.reserve(static_cast<std::size_t>(window_));
}

void Echo::clear() {
  sizes_.clear();
  throughputs_.clear();
}

void Echo::add(double size, double throughput) {
  if (full()) clear();
  sizes_.push_back(size);
  throughputs_.push_back(throughput);
}

Answer Echo::answer() const {
  const int periods = samples() / kWavePeriod;
  const auto size = relative_component(sizes_, static_cast<std::size_t>(periods));
  const auto throughput = relative_component(throughputs_, static_cast<std::size_t>(periods));
  const Noise noise = noise_so_far();
  return {.periods = periods,
          .ratio = (throughput / size).real(),
          .error = noise.known() ? noise.ratio_error(samples(), std::abs(size))
                                 : std::numeric_limits<double>::infinity(),
          .size_harmonic = size,
          .throughput_harmonic = throughput};
}

void Echo::conclude() {
  noise_ = noise_so_far();
  clear();
}

// The neighbouring bins tell noise near the wave's frequency.
Noise Echo::noise_so_far() const {
  const Neighbours beside = neighbour_noise(throughputs_, throughputs_.size() / kWavePeriod);
  return noise_.with(beside.variance, beside.freedom, kNoiseMemory);
}

double Echo::mean_of_latest(int from, int count) const {
  const auto begin = throughputs_.end() - from;
  return std::accumulate(begin, begin + count, 0.0) / count;
}

}  // namespace poolpilot
