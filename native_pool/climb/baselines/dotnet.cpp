#include "climb/baselines/dotnet.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "climb/baselines/whole_size.hpp"
#include "climb/spectrum.hpp"

namespace poolpilot {
namespace {

constexpr double kRetryMs = 10.0;  // after a sample that was too inaccurate

// Sums and products over a history must stay finite whatever a caller says.
constexpr double kHighestThroughput = 1e100;

// A constant series leaves rounding errors in the bin of the wave; they are no wave.
constexpr double kLeastWave = 1e-12;

// The oldest value leaves, the latest one is last.
void append(std::vector<double>& series, double value) {
  std::shift_left(series.begin(), series.end(), 1);
  series.back() = value;
}

double draw(std::mt19937_64& random, const DotnetSettings& settings) {
  const int choices = settings.sample_interval_high_ms - settings.sample_interval_low_ms + 1;
  return settings.sample_interval_low_ms +
         static_cast<double>(random() % static_cast<std::uint64_t>(choices));
}

}  // namespace

DotnetClimber::DotnetClimber(const DotnetSettings& settings, int initial_size, SizeLimits limits)
    : Climber(initial_size, limits), settings_(settings), control_(initial_size) {
  const auto remembered = static_cast<std::size_t>(settings.wave_period) *
                          static_cast<std::size_t>(settings.wave_history_size);
  throughputs_.resize(remembered);
  sizes_.resize(remembered);
  random_.seed(static_cast<std::uint64_t>(settings.seed));
  period_ms_ = drawn_ms_ = draw(random_, settings);
}

int DotnetClimber::next(const Sample& sample) {
  if (sample.size != size()) {
    control_ += static_cast<double>(sample.size) - size();
    drawn_ms_ = draw(random_, settings_);
  }
  accumulate(sample);
  if (too_inaccurate(sample.size)) {
    period_ms_ = kRetryMs;
    return sample.size;
  }
  remember(sample.size);
  const Response seen = response();
  move(seen, seconds_);
  completions_ = seconds_ = 0.0;
  const int chosen = size_on_wave();
  choose_period(sample.size, chosen, seen.lead);
  return chosen;
}

void DotnetClimber::accumulate(const Sample& sample) {
  const double mean_ms =
      std::midpoint<double>(settings_.sample_interval_low_ms, settings_.sample_interval_high_ms);
  const double seconds = sample.duration_s > 0.0 ? sample.duration_s : mean_ms / 1000.0;
  seconds_ += seconds;
  completions_ += std::min(sample.throughput, kHighestThroughput) * seconds;
}

// Every thread but the one that reports may have work under way that is not counted. The error
// repeats every three samples or so, and so would pass for a response to the wave.
bool DotnetClimber::too_inaccurate(int size) const {
  return samples_ > 0 && size > 1 && size - 1.0 >= settings_.max_sample_error * completions_;
}

void DotnetClimber::remember(int size) {
  append(throughputs_, completions_ / seconds_);
  append(sizes_, size);
  ++samples_;
}

// Of the latest whole periods, the first sample ever left out; nothing until there are two.
DotnetClimber::Response DotnetClimber::response() {
  const auto period = static_cast<std::size_t>(settings_.wave_period);
  const auto known = static_cast<std::size_t>(samples_ - 1);
  const std::size_t length = std::min(known, sizes_.size()) / period * period;
  if (length <= period) return {};
  return response_of(std::span<const double>(throughputs_).last(length),
                     std::span<const double>(sizes_).last(length));
}

DotnetClimber::Response DotnetClimber::response_of(std::span<const double> throughputs,
                                                   std::span<const double> sizes) {
  const double mean_throughput = mean_of(throughputs);
  if (mean_throughput <= 0.0) return {};
  const std::size_t cycles = sizes.size() / static_cast<std::size_t>(settings_.wave_period);
  const auto throughput_wave = component_at(throughputs, cycles) / mean_throughput;
  const auto size_wave = component_at(sizes, cycles) / mean_of(sizes);
  const double noise = std::max(std::abs(component_at(throughputs, cycles + 1)),
                                std::abs(component_at(throughputs, cycles - 1))) /
                       mean_throughput;
  smooth_noise(noise);
  if (std::abs(size_wave) < kLeastWave) return {};
  const double worst = std::max(average_noise_, noise);
  const double signal =
      worst > 0.0 ? std::abs(size_wave) / worst : std::numeric_limits<double>::infinity();
  return {.lead = (throughput_wave / size_wave).real() - settings_.bias,
          .confidence = signal / settings_.target_signal_to_noise_ratio};
}

void DotnetClimber::smooth_noise(double noise) {
  const double weight = average_noise_ > 0.0 ? settings_.error_smoothing_factor : 1.0;
  average_noise_ += weight * (noise - average_noise_);
}

void DotnetClimber::move(Response seen, double seconds) {
  const double response = std::clamp(seen.lead, -1.0, 1.0) * std::clamp(seen.confidence, 0.0, 1.0);
  const double speed =
      std::pow(std::abs(response), settings_.gain_exponent) * settings_.max_change_per_second;
  control_ += std::min(std::copysign(speed * seconds, response), settings_.max_change_per_sample);
  const double wanted = 0.5 + 2.0 * control_ * average_noise_ *
                                  settings_.target_signal_to_noise_ratio *
                                  settings_.wave_magnitude_multiplier;
  wave_magnitude_ = static_cast<int>(std::clamp<double>(wanted, 1, settings_.max_wave_magnitude));
  control_ =
      std::max<double>(std::min<double>(control_, limits().max - wave_magnitude_), limits().min);
}

// Half a period low, half a period high.
int DotnetClimber::size_on_wave() const {
  const bool high = samples_ / (settings_.wave_period / 2) % 2 == 1;
  return whole_size(std::floor(control_ + (high ? wave_magnitude_ : 0)), limits());
}

// At the floor, where fewer threads would be better still, looking up costs more than it tells:
// .NET stays there up to ten times as long.
void DotnetClimber::choose_period(int size, int chosen, double lead) {
  if (chosen != size) drawn_ms_ = draw(random_, settings_);
  const bool at_floor = chosen == limits().min && lead < 0.0;
  const double factor = at_floor ? 10.0 * std::min(-lead, 1.0) : 1.0;
  period_ms_ = std::max(1.0, std::floor(0.5 + drawn_ms_ * factor));
}

}  // namespace poolpilot
