// The component of a series at one frequency, and what a wave on the size says about throughput.
#pragma once

#include <complex>
#include <cstddef>
#include <span>

namespace poolpilot {

// Fourier component of `series` that makes `cycles` cycles over it, divided by its length
// (Goertzel 1958). `cycles` must be in 0..series.size()/2, the series must not be empty.
std::complex<double> component_at(std::span<const double> series, std::size_t cycles);

struct WaveResponse {
  double ratio = 0.0;           // real part of throughput component / size component: elasticity
  double size_component = 0.0;  // magnitude of the size's component over the mean size
  double noise_variance = 0.0;  // variance of one sample over the squared mean, from neighbour bins
  double freedom = 0.0;         // degrees of freedom behind that variance
  std::size_t samples = 0;
};

// Response of `throughputs` to a wave of `cycles` whole cycles on `sizes`, each divided by its
// mean. Noise is the mean power of the bins beside the wave's, which a strictly periodic wave
// leaves empty: half as many to either side as the wave has cycles. Both series have the same
// length and positive means; 2 <= cycles < length / 2.
WaveResponse wave_response(std::span<const double> sizes, std::span<const double> throughputs,
                           std::size_t cycles);

}  // namespace poolpilot
