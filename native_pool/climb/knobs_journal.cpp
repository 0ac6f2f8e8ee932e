// What a climb of many knobs remembers of itself, and the settings it may be given on its way.
#include <algorithm>
#include <stdexcept>

#include "climb/knobs.hpp"

namespace poolpilot {

void KnobClimber::adopt(const SpectralSettings& settings, std::span<const double> prices) {
  if (!prices.empty() && prices.size() != knobs_.size()) {
    throw std::invalid_argument(
        "a climb needs a price for each of its knobs, or none to keep them");
  }
  settings_ = settings.validated();
  std::vector<int> middles;
  for (Knob& knob : knobs_) {
    knob.belief = Belief(knob.range.limits, kBeliefPoints);
    if (!prices.empty()) knob.range.price = prices[middles.size()];
    middles.push_back(knob.value);
  }
  watch_ = HoldWatch();
  watch_.clear(noise_.deviation());
  journal_.adopt(settings_);
  if (mode_ == Mode::kOptimized) return reserve();
  earlier_ = values_;
  reserve();
  restart(middles, Reason::kSettingsChanged);
}

void KnobClimber::reserve() {
  const auto fresh = [this] {
    std::vector<double> samples;
    samples.reserve(static_cast<std::size_t>(window()));
    return samples;
  };
  throughputs_ = fresh();
  for (Knob& knob : knobs_) knob.series = fresh();
}

// The sample may be older than the wave that the constructor or adopt() has begun.
bool KnobClimber::older(std::span<const int> in_force) const {
  const bool begun = values_ != earlier_ || reason_ == Reason::kSettingsChanged;
  return begun && !earlier_.empty() &&
         std::equal(earlier_.begin(), earlier_.end(), in_force.begin(), in_force.end());
}

void KnobClimber::leave_alone(std::span<const int> in_force) {
  reason_ = Reason::kSwitchedOff;
  for (std::size_t k = 0; k < std::min(knobs_.size(), in_force.size()); ++k) {
    knobs_[k].value = values_[k] = knobs_[k].range.limits.clamp(in_force[k]);
  }
}

void KnobClimber::record(const Sample& sample, std::span<const int> in_force, Flaw flaw) {
  KnobRecord entry{.sample = samples_,
                   .mode = mode_,
                   .knobs = knobs_.size(),
                   .states = {},
                   .throughput = sample.throughput,
                   .duration_s = sample.duration_s,
                   .period_s = period_s(),
                   .reason = reason_,
                   .flaw = flaw,
                   .deviation = has_left_reference(reason_) ? watch_.deviation() : 0.0};
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    const Knob& knob = knobs_[k];
    entry.states[k] = {.value = k < in_force.size() ? in_force[k] : 0,
                       .next_value = values_[k],
                       .middle = knob.value,
                       .wave_low = knob.wave.low,
                       .wave_high = knob.wave.high,
                       .ratio = ratios_[k],
                       .error = errors_[k]};
  }
  journal_.add(entry);
}

}  // namespace poolpilot
