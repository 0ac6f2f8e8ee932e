// The component of a series at one frequency, and the noise beside it.
#pragma once

#include <complex>
#include <cstddef>
#include <span>

namespace poolpilot {

// Mean of a series that is not empty.
double mean_of(std::span<const double> series);

// Fourier component of `series` that makes `cycles` cycles over it, divided by its length
// (Goertzel 1958). `cycles` must be in 0..series.size()/2, the series must not be empty.
std::complex<double> component_at(std::span<const double> series, std::size_t cycles);

// The same, divided by the mean of the series, which must not be 0.
std::complex<double> relative_component(std::span<const double> series, std::size_t cycles);

struct Neighbours {
  double variance = 0.0;  // variance of one sample over the squared mean
  double freedom = 0.0;   // degrees of freedom behind it; 0: there was no bin to look at
};

// Noise from the mean power of the bins beside the wave's, which a strictly periodic wave leaves
// empty: half as many to either side as the wave has cycles. The mean must not be 0, and
// cycles < series.size() / 2.
Neighbours neighbour_noise(std::span<const double> series, std::size_t cycles);

}  // namespace poolpilot
