// A climber played against a curve of throughput over size with seeded multiplicative noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <utility>

#include "climb/spectral.hpp"

namespace poolpilot {

using Curve = std::function<double(double size)>;

// Rises to a smooth optimum and falls beyond it.
inline Curve arch(double optimum, double curvature, double top = 1000.0) {
  return [=](double size) {
    const double away = std::log(size / optimum);
    return top / (1.0 + curvature * away * away);
  };
}

// Rises and falls with constant elasticities, with an edge at the optimum.
inline Curve roof(double optimum, double rise, double fall, double top = 1000.0) {
  return [=](double size) {
    const double away = std::log(size / optimum);
    return top * std::exp(away < 0.0 ? rise * away : -fall * away);
  };
}

// Rises in proportion up to the knee and stays there.
inline Curve knee(double at, double top = 1000.0) {
  return [=](double size) { return top * std::min(1.0, size / at); };
}

// Gunther's law: rises ever more slowly to the optimum and falls ever so slightly beyond.
inline Curve soft_knee(double optimum, double top = 1000.0) {
  const double contention = std::min(0.99, 2.0 / std::max(optimum, 1.0));
  const double coherency = (1.0 - contention) / (optimum * optimum);
  const auto law = [=](double size) {
    return size / (1.0 + contention * (size - 1.0) + coherency * size * (size - 1.0));
  };
  return [=, peak = law(optimum)](double size) { return top * law(size) / peak; };
}

class PlayedCurve {
 public:
  PlayedCurve(Curve curve, int max_size, double noise, unsigned seed = 1)
      : curve_(std::move(curve)), max_size_(max_size), noise_(noise), random_(seed) {}

  // Gives the climber one sample of the curve at `size`; returns the size it asks for.
  int play(Climber& climber, int size) {
    const double throughput = at(size);
    return climber.update({.throughput = throughput,
                           .connections = connections,
                           .latency_s = connections / throughput,
                           .size = size});
  }

  // One noisy throughput at `size`.
  double at(double size) { return curve_(size) * std::max(0.05, 1.0 + noise_ * normal()); }

  // Plays until the climber holds, at most `limit` samples. Returns the number played.
  int play_until_held(SpectralClimber& climber, int& size, int limit = 2000) {
    int played = 0;
    do {
      size = play(climber, size);
      ++played;
    } while (climber.mode() != Mode::kOptimized && played < limit);
    return played;
  }

  // 1 - exp(J(size) - best J) of J = ln(throughput) - price ln(size), without noise.
  double loss(int size, double price) const {
    double best = value(1, price);
    for (int other = 2; other <= max_size_; ++other) best = std::max(best, value(other, price));
    return 1.0 - std::exp(value(size, price) - best);
  }

  void change(Curve curve) { curve_ = std::move(curve); }

  double connections = 2048.0;

 private:
  double value(int size, double price) const {
    return std::log(curve_(size)) - price * std::log(static_cast<double>(size));
  }

  // Box-Muller on raw bits: the standard's distributions differ between libraries.
  double normal() {
    const double first = (static_cast<double>(random_() >> 11) + 1.0) / 9007199254740993.0;
    const double second = static_cast<double>(random_() >> 11) / 9007199254740992.0;
    return std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * std::numbers::pi * second);
  }

  Curve curve_;
  int max_size_;
  double noise_;
  std::mt19937_64 random_;
};

// Whether the reason of a record in the climber's log contains `text`.
inline bool logged(const SpectralClimber& climber, const std::string& text) {
  const auto& records = climber.journal().records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].text().find(text) != std::string::npos) return true;
  }
  return false;
}

inline SpectralSettings small_server() {
  SpectralSettings settings;
  settings.hcm_hillclimbing_enabled = true;
  settings.hcm_log_enabled = true;
  settings.min_accepted_throughput = 1.0;
  return settings;
}

// Begins with its first wave.
inline SpectralSettings without_scan() {
  SpectralSettings settings = small_server();
  settings.scan_rounds = 0;
  return settings;
}

// A warm start holds at once.
inline SpectralSettings trusting() {
  SpectralSettings settings = small_server();
  settings.verify_warm_start = false;
  return settings;
}

// A climber that has found the optimum of an arch at 32 and holds it.
struct Held {
  explicit Held(double noise = 0.0) : curve(arch(32, 0.5), 64, noise) {
    size = climber.size();
    curve.play_until_held(climber, size);
    for (int i = 0; i < 40; ++i) size = curve.play(climber, size);
  }

  SpectralClimber climber{small_server(), 8, {.min = 1, .max = 64}};
  PlayedCurve curve;
  int size = 0;
};

}  // namespace poolpilot
