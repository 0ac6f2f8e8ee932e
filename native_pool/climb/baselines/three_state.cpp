#include "climb/baselines/three_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "climb/baselines/whole_size.hpp"

namespace poolpilot {

void ThreeStateSettings::validate() const {
  require_ranges(*this);
  if (first_step <= longest_step) return;
  std::ostringstream allowed;
  allowed << "at most longest_step, which is " << longest_step;
  refuse_setting("first_step", first_step, allowed.str());
}

ThreeStateClimber::ThreeStateClimber(const ThreeStateSettings& settings, int initial_size,
                                     SizeLimits limits)
    : Climber(initial_size, limits), settings_(settings) {
  settings.validate();
}

std::span<const SettingField<ThreeStateSettings>> ThreeStateSettings::fields() {
  using Settings = ThreeStateSettings;
  static const SettingField<Settings> kFields[] = {
      {&Settings::interval_s, "interval_s", "seconds", 0.001, 3600,
       "Length of a sample; each brings one decision."},
      {&Settings::stability_factor, "stability_factor", "share", 0.01, 1,
       "A rise or fall counts when the smaller throughput is below this share of the larger."},
      {&Settings::first_step, "first_step", "threads", 1, 1e6,
       "Length of the first step and of an exploring one."},
      {&Settings::step_growth, "step_growth", "threads", 0, 1e6,
       "Threads by which each further step is longer."},
      {&Settings::longest_step, "longest_step", "threads", 1, 1e6, "Longest step."},
      {&Settings::pause_after_scaling_s, "pause_after_scaling_s", "seconds", 0, 86400,
       "Pause before exploring, after scaling has ended; at least one sample."},
      {&Settings::pause_after_exploring_s, "pause_after_exploring_s", "seconds", 0, 86400,
       "Pause before exploring again, after an exploring step was taken back; at least one "
       "sample."}};
  return kFields;
}

int ThreeStateClimber::next(const Sample& sample) {
  if (sample.size != size()) state_ = ScalingState::kStartup;
  const int chosen = decide(sample);
  size_before_ = sample.size;
  throughput_before_ = sample.throughput;
  return chosen;
}

int ThreeStateClimber::decide(const Sample& sample) {
  switch (state_) {
    case ScalingState::kStartup:
      return take_step(ScalingState::kScaling, settings_.first_step, sample.size);
    case ScalingState::kScaling:
      return scale(sample);
    case ScalingState::kSettled:
      return stay_settled(sample);
    case ScalingState::kExploring:
      return explore(sample);
  }
  return sample.size;
}

int ThreeStateClimber::scale(const Sample& sample) {
  if (rose(sample)) return take_step(ScalingState::kScaling, longer_step(), sample.size);
  return settle(settings_.pause_after_scaling_s, fell(sample) ? size_before_ : sample.size);
}

int ThreeStateClimber::stay_settled(const Sample& sample) {
  pause_left_s_ -= sample.duration_s > 0.0 ? sample.duration_s : settings_.interval_s;
  if (pause_left_s_ > 0.0) return sample.size;
  const int opposite = step_ > 0 ? -settings_.first_step : settings_.first_step;
  return take_step(ScalingState::kExploring, opposite, sample.size);
}

int ThreeStateClimber::explore(const Sample& sample) {
  if (rose(sample)) return take_step(ScalingState::kScaling, step_, sample.size);
  return settle(settings_.pause_after_exploring_s, size_before_);
}

int ThreeStateClimber::take_step(ScalingState state, int step, int size) {
  state_ = state;
  step_ = step;
  return whole_size(static_cast<double>(size) + step, limits());
}

int ThreeStateClimber::settle(double pause_s, int size) {
  state_ = ScalingState::kSettled;
  pause_left_s_ = pause_s;
  return size;
}

int ThreeStateClimber::longer_step() const {
  const int length = std::min(std::abs(step_) + settings_.step_growth, settings_.longest_step);
  return step_ > 0 ? length : -length;
}

bool ThreeStateClimber::rose(const Sample& sample) const {
  return sample.throughput * settings_.stability_factor > throughput_before_;
}

bool ThreeStateClimber::fell(const Sample& sample) const {
  return throughput_before_ * settings_.stability_factor > sample.throughput;
}

}  // namespace poolpilot
