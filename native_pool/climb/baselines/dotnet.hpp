// The baseline of .NET: hill climbing on the response to a wave on the size.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "climb/climber.hpp"

namespace poolpilot {

// .NET's defaults.
struct DotnetSettings {
  int wave_period = 4;        // samples
  int wave_history_size = 8;  // periods that are analysed
  int max_wave_magnitude = 20;
  double wave_magnitude_multiplier = 1.0;     // height of the wave against what the noise calls for
  double bias = 0.15;                         // elasticity below which the size falls
  double target_signal_to_noise_ratio = 3.0;  // wave over noise that earns full confidence
  double max_change_per_second = 4.0;         // threads, at full response and full confidence
  double max_change_per_sample = 20.0;        // growth in threads
  int sample_interval_low_ms = 10;
  int sample_interval_high_ms = 200;
  double error_smoothing_factor = 0.01;  // weight of the latest noise in its moving average
  double gain_exponent = 2.0;            // of the response: weak ones are ignored
  double max_sample_error = 0.15;        // other threads over completions; beyond it goes on
  int seed = 1;                          // of the random intervals
};

// The hill climbing of .NET's portable thread pool, restated step by step from
// PortableThreadPool.HillClimbing.cs with its parameters and defaults: Goertzel components of
// throughput and threads at the wave's period, noise from the two bins beside it, a confidence, a
// move of the real-valued control that grows with the square of the response, and a one-sided
// square wave on top of it. Kept as they are: the wave's cap of 20 threads, speeds in threads a
// second whatever the size, the bias that stops at an elasticity of 0.15 rather than the optimum,
// and that a size forced by others shifts the control but leaves the history.
//
// Left out: the standstill above 95 % CPU, since samples do not tell the utilisation, and the gate
// thread's starvation rule, which is no part of the climber. Completions are throughput x duration;
// a sample without a duration lasts the mean interval (105 ms), also where period_s() asked for
// another one, so that a caller may ignore it.
class DotnetClimber final : public Climber {
 public:
  // Throws std::invalid_argument on sizes outside the limits.
  DotnetClimber(const DotnetSettings& settings, int initial_size, SizeLimits limits);

  // Random, so that the samples run along with no other period, and drawn anew with each new size.
  double period_s() const override { return period_ms_ / 1000.0; }

  double control() const { return control_; }
  int wave_magnitude() const { return wave_magnitude_; }
  std::int64_t samples() const { return samples_; }  // accepted by the quality gate

 protected:
  int next(const Sample& sample) override;

 private:
  struct Response {
    double lead = 0.0;        // elasticity less the bias
    double confidence = 0.0;  // wave over noise over the ratio aimed at
  };

  void accumulate(const Sample& sample);
  bool too_inaccurate(int size) const;
  void remember(int size);
  Response response();
  Response response_of(std::span<const double> throughputs, std::span<const double> sizes);
  void smooth_noise(double noise);
  void move(Response seen, double seconds);
  int size_on_wave() const;
  void choose_period(int size, int chosen, double lead);

  DotnetSettings settings_;
  double control_;
  int wave_magnitude_ = 1;
  double average_noise_ = 0.0;
  std::int64_t samples_ = 0;
  double completions_ = 0.0;  // of samples not accepted yet
  double seconds_ = 0.0;
  std::vector<double> throughputs_;  // latest last, zeros before the first
  std::vector<double> sizes_;
  std::mt19937_64 random_;
  double drawn_ms_ = 0.0;
  double period_ms_ = 0.0;
};

}  // namespace poolpilot
