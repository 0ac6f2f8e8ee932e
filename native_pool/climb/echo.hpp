// What the throughput has answered to the wave under way, and the noise it must stand out of.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "climb/noise.hpp"
#include "climb/settings.hpp"

namespace poolpilot {

struct Answer {
  int periods = 0;
  double ratio = 0.0;                        // elasticity of throughput in size
  double error = 0.0;                        // its standard error; infinite while none is known
  std::complex<double> size_harmonic;        // over the mean size
  std::complex<double> throughput_harmonic;  // over the mean throughput
};

class Echo {
 public:
  // Reserves memory for a full window; add() allocates none.
  explicit Echo(const SpectralSettings& settings);

  // A new wave begins; what is known of the noise stays.
  void clear();
  void forget_noise() { noise_ = Noise(); }
  void expect_noise(const Noise& noise) { noise_ = noise; }
  bool noise_known() const { return noise_.known(); }

  void add(double size, double throughput);
  int samples() const { return static_cast<int>(sizes_.size()); }
  bool period_full() const { return samples() > 0 && samples() % kWavePeriod == 0; }
  bool full() const { return samples() >= window_; }

  // The answer of all whole periods so far.
  Answer answer() const;

  // Mean throughput of the latest whole period's low and high half.
  double latest_low() const { return mean_of_latest(kWavePeriod, kWavePeriod / 2); }
  double latest_high() const { return mean_of_latest(kWavePeriod / 2, kWavePeriod / 2); }

  // The wave is over: what it has shown of the noise joins what is known, once.
  void conclude();
  Noise noise_so_far() const;

 private:
  double mean_of_latest(int from, int count) const;

  int window_;
  std::vector<double> sizes_;
  std::vector<double> throughputs_;
  Noise noise_;
};

}  // namespace poolpilot
