#include "climb/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace poolpilot {
namespace {

void require_sizes(int initial_size, int min_size, int max_size) {
  if (1 <= min_size && min_size <= initial_size && initial_size <= max_size) return;
  std::ostringstream text;
  text << "sizes must satisfy 1 <= min_size <= initial_size <= max_size, but min_size is "
       << min_size << ", initial_size " << initial_size << ", max_size " << max_size;
  throw std::invalid_argument(text.str());
}

}  // namespace

SpectralClimber::SpectralClimber(const SpectralSettings& settings, int initial_size, int min_size,
                                 int max_size, bool warm)
    : settings_(settings),
      min_size_(min_size),
      max_size_(max_size),
      requested_(initial_size),
      bracket_(min_size, max_size) {
  settings_.validate();
  require_sizes(initial_size, min_size, max_size);
  if (warm) {
    mode_ = Mode::kOptimized;
    settle_left_ = settings_.settle_samples;
    note("starts on the given summit");
  } else {
    restart(initial_size, "starts cold");
  }
}

int SpectralClimber::update(const Sample& sample) {
  sample.validate();
  ++samples_;
  if (sample.size != requested_) {
    return restart(sample.size, "size was changed from outside to " + std::to_string(sample.size));
  }
  if (sample.connections == 0.0) return idle();
  idle_ = false;
  connections_ = sample.connections;
  if (mode_ != Mode::kOptimized && steep_decline(sample)) return retreat(sample.size);
  if (sample.throughput == 0.0 || sample.throughput < settings_.min_accepted_throughput) {
    return pause();
  }
  paused_ = false;
  requested_ = mode_ == Mode::kOptimized ? hold(sample) : climb(sample);
  return requested_;
}

// A given summit that nobody has used yet stays a summit.
int SpectralClimber::idle() {
  const bool holding = mode_ == Mode::kOptimized;
  if (idle_ || (holding && watch_.samples() == 0)) return requested_;
  idle_ = true;
  return restart(holding ? requested_ : wave_.low, "no connections");
}

int SpectralClimber::pause() {
  if (!paused_ && mode_ != Mode::kOptimized) begin(wave_, "throughput too low to climb");
  paused_ = true;
  return requested_;
}

// ---- climbing ----

int SpectralClimber::climb(const Sample& sample) {
  if (settle_left_ > 0) {
    --settle_left_;
    return requested_;
  }
  sizes_.push_back(sample.size);
  throughputs_.push_back(sample.throughput);
  if (sizes_.size() % static_cast<std::size_t>(settings_.wave_period) == 0) {
    if (curve_changed()) return restart(wave_.low, "the curve has changed");
    decide();
    if (mode_ == Mode::kOptimized) return requested_;
  }
  return wave_.size_at(sizes_.size(), settings_.wave_period);
}

// Back to the last size that was well. What lies from the collapse upwards is left alone for this
// climb, or the same slope would lead there again.
int SpectralClimber::retreat(int collapsed_size) {
  const bool just_moved = static_cast<int>(sizes_.size()) < settings_.wave_period;
  const int safe = just_moved ? last_low_ : wave_.low;
  std::optional<int> limit;
  if (collapsed_size > safe) limit = collapsed_size - 1;
  return restart(safe, "unnaturally steep decline", limit);
}

// Two samples in a row, as one may be a hiccup of the machine.
bool SpectralClimber::steep_decline(const Sample& sample) {
  const auto period = static_cast<std::size_t>(settings_.wave_period);
  if (last_period_.size() == period) {
    const double mean = std::accumulate(last_period_.begin(), last_period_.end(), 0.0) /
                        static_cast<double>(period);
    if (sample.throughput < (1.0 - settings_.hcm_steep_decline) * mean) return ++declines_ >= 2;
    last_period_.pop_front();
  }
  declines_ = 0;
  last_period_.push_back(sample.throughput);
  return false;
}

// Two periods in a row that known points of the curve did not foretell.
bool SpectralClimber::curve_changed() {
  const auto half = static_cast<std::ptrdiff_t>(settings_.wave_period / 2);
  const auto middle = throughputs_.end() - half;
  const auto samples = static_cast<double>(half);
  const double low = std::accumulate(middle - half, middle, 0.0) / samples;
  const double high = std::accumulate(middle, throughputs_.end(), 0.0) / samples;
  const double error = noise_.deviation() / std::sqrt(samples);
  const double limit = std::max(settings_.hcm_valuable_diff, settings_.hcm_exit_confidence * error);
  const auto wrong = [&](int size, double actual) {
    const auto expected = curve_.predict(size);
    return expected && std::abs(actual / *expected - 1.0) > limit;
  };
  if (noise_.known() && (wrong(wave_.low, low) || wrong(wave_.high, high))) {
    return ++wrong_predictions_ >= 2;
  }
  wrong_predictions_ = 0;
  curve_.add(wave_.low, low, samples);
  curve_.add(wave_.high, high, samples);
  return false;
}

void SpectralClimber::decide() {
  const int periods = static_cast<int>(sizes_.size()) / settings_.wave_period;
  if (periods < settings_.min_periods_to_decide) return;
  const auto response = wave_response(sizes_, throughputs_, static_cast<std::size_t>(periods));
  ratio_ = response.ratio;
  error_ = noise_.standard_error(response);
  const double lead = ratio_ - settings_.price_of_thread;
  const Trend trend = judge(settings_, {.lead = lead,
                                        .error = error_,
                                        .periods = periods,
                                        .searching = mode_ == Mode::kUsual && !bracket_.closed(),
                                        .wave_can_grow = wave_can_grow()});
  if (trend == Trend::kUnknown) return;
  noise_.absorb(response);
  if (trend == Trend::kRising) return rise(lead);
  if (trend == Trend::kFalling) return fall(lead);
  flatten();
}

// ---- holding ----

int SpectralClimber::hold(const Sample& sample) {
  if (settle_left_ > 0) {
    --settle_left_;
    return requested_;
  }
  const bool judged = watch_.samples() >= settings_.hcm_reference_samples;
  const Departure departure = watch_.add(sample, settings_);
  if (departure != Departure::kNone) return leave(departure);
  if (!judged && watch_.samples() >= settings_.hcm_reference_samples && false_summit()) {
    return restart(*curve_.best(min_size_, max_size_, settings_.price_of_thread),
                   "false summit: a better size is known");
  }
  return requested_;
}

bool SpectralClimber::false_summit() const {
  const double price = settings_.price_of_thread;
  const auto best = curve_.best(min_size_, max_size_, price);
  if (!best) return false;
  const double held = std::log(watch_.throughput()) - price * std::log(requested_);
  return held < curve_.value(*best, price) - settings_.hcm_valuable_diff;
}

}  // namespace poolpilot
