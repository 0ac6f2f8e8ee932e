// Streams of random numbers that depend on nothing but a seed and the stream's number.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace poolpilot::load {

inline std::mt19937_64 random_stream(std::uint64_t seed, std::uint32_t stream) {
  std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         stream};
  return std::mt19937_64(sequence);
}

// An exponential pause of this mean, in whole nanoseconds.
inline std::int64_t exponential_ns(std::mt19937_64& random, double mean_ns) {
  std::exponential_distribution<double> pause(1.0 / mean_ns);
  return std::llround(pause(random));
}

// A gamma-distributed value of this mean and coefficient of variation (shape 1/cv^2).
inline double gamma_of(std::mt19937_64& random, double mean, double variation) {
  const double shape = 1.0 / (variation * variation);
  std::gamma_distribution<double> draw(shape, mean / shape);
  return draw(random);
}

}  // namespace poolpilot::load
