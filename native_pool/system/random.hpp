// Random numbers of the simulator and of the queues: small state, and the same draws in every build
// and library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace poolpilot {

// splitmix64 (Steele, Lea and Flood, 2014): turns any seed into well-mixed words.
constexpr std::uint64_t mixed(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t word = state;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

// xoshiro256++ (Blackman and Vigna, 2019). The distributions are ours because those of the standard
// library differ between implementations, and the same seed must give the same simulation.
class Random {
 public:
  Random() : Random(0, 0) {}
  // Streams of one seed are independent of each other.
  Random(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t state = seed;
    state = mixed(state) ^ (stream * 0xd1342543de82ef95ULL);
    for (std::uint64_t& word : words_) word = mixed(state);
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(words_[0] + words_[3], 23) + words_[0];
    const std::uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

  // In (0, 1): never 0, so that its logarithm is finite.
  double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1.0p-52; }

  // In 0..count-1, count below 2^32; its bias of count / 2^32 is below what a simulation resolves.
  std::uint64_t below(std::uint64_t count) { return ((bits() >> 32) * count) >> 32; }

  double exponential(double mean) { return -mean * std::log(uniform()); }

  // Marsaglia's polar method; the second value is thrown away to keep the state small.
  double normal() {
    while (true) {
      const double x = 2.0 * uniform() - 1.0;
      const double y = 2.0 * uniform() - 1.0;
      const double square = x * x + y * y;
      if (square < 1.0 && square > 0.0) return x * std::sqrt(-2.0 * std::log(square) / square);
    }
  }

  // Gamma of this mean and coefficient of variation (Marsaglia and Tsang, 2000).
  double gamma(double mean, double variation) {
    if (variation == 1.0) return exponential(mean);
    const double shape = 1.0 / (variation * variation);
    // Below a shape of 1 one draws at shape + 1 and scales down.
    const double raised = shape < 1.0 ? shape + 1.0 : shape;
    const double d = raised - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    double value = 0.0;
    while (true) {
      const double x = normal();
      const double root = 1.0 + c * x;
      if (root <= 0.0) continue;
      const double v = root * root * root;
      if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
        value = d * v;
        break;
      }
    }
    if (shape < 1.0) value *= std::pow(uniform(), 1.0 / shape);
    return value * mean / shape;
  }

 private:
  std::uint64_t words_[4];
};

}  // namespace poolpilot
