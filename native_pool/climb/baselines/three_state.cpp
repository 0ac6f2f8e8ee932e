#include "climb/baselines/three_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "climb/baselines/whole_size.hpp"

namespace poolpilot {

ThreeStateClimber::ThreeStateClimber(const ThreeStateSettings& settings, int initial_size,
                                     SizeLimits limits)
    : Climber(initial_size, limits), settings_(settings) {}

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
