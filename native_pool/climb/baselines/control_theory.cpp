#include "climb/baselines/control_theory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "climb/baselines/whole_size.hpp"

namespace poolpilot {

ControlTheoryClimber::ControlTheoryClimber(const ControlTheorySettings& settings, int initial_size,
                                           SizeLimits limits)
    : Climber(initial_size, limits), settings_(settings) {}

int ControlTheoryClimber::next(const Sample& sample) {
  if (sample.size != size()) start_again();
  average_.add(sample.throughput);
  if (average_.count() < settings_.samples_per_size) return sample.size;
  const int chosen = whole_size(sample.size + step_from(sample.size), limits());
  if (chosen != sample.size) last_went_up_ = chosen > sample.size;
  previous_size_ = sample.size;
  previous_mean_ = average_.mean();
  average_ = Average();
  ++moves_;
  return chosen;
}

void ControlTheoryClimber::start_again() {
  average_ = Average();
  previous_size_ = 0;
  moves_ = 0;
  last_went_up_ = false;
}

double ControlTheoryClimber::step_from(int size) const {
  const bool no_gradient = previous_size_ == 0 || previous_size_ == size;
  return no_gradient ? step_back_from(size) : step_along_gradient(size);
}

double ControlTheoryClimber::step_back_from(int size) const {
  const double step = threads_of(settings_.first_step, size);
  const bool up = size == limits().min || (size != limits().max && !last_went_up_);
  return up ? step : -step;
}

double ControlTheoryClimber::step_along_gradient(int size) const {
  const double unit = settings_.throughput_unit * std::midpoint(average_.mean(), previous_mean_);
  if (unit <= 0.0) return 0.0;
  const double threads_a_unit = settings_.size_unit * size;
  const double gradient =
      (average_.mean() - previous_mean_) / unit / ((size - previous_size_) / threads_a_unit);
  const double gain = std::exp(-average_.standard_error() / unit) * settings_.control_gain /
                      std::sqrt(moves_ + 1.0);
  const double step = std::ceil(gain * std::abs(gradient) * threads_a_unit);
  return std::copysign(std::min(step, threads_of(settings_.max_step, size)), gradient);
}

}  // namespace poolpilot
