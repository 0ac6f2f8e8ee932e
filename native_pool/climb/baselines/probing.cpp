#include "climb/baselines/probing.hpp"

#include <algorithm>
#include <cmath>

#include "climb/baselines/whole_size.hpp"

namespace poolpilot {
namespace {

// Threads in use at the busiest moment: arrivals that know nothing of each other make the number
// of requests in the system stray two of its roots above its mean in any but a short interval.
double peak_used(const Sample& sample) {
  const double size = sample.size;
  const double mean = sample.throughput * sample.latency_s;
  const bool connections_known = sample.connections > 0.0;
  double peak = mean + 2.0 * std::sqrt(mean);
  if (mean <= 0.0) peak = sample.throughput > 0.0 && !connections_known ? size : sample.connections;
  if (connections_known) peak = std::min(peak, sample.connections);
  return std::min(peak, size);
}

}  // namespace

ProbingClimber::ProbingClimber(const ProbingSettings& settings, int initial_size, SizeLimits limits)
    : Climber(initial_size, limits), settings_(settings), stable_size_(initial_size) {}

int ProbingClimber::next(const Sample& sample) {
  if (sample.size != size()) {
    state_ = ProbingState::kStable;
    stable_size_ = sample.size;
  }
  return state_ == ProbingState::kStable ? start_probe(sample) : end_probe(sample);
}

int ProbingClimber::start_probe(const Sample& sample) {
  stable_throughput_ = sample.throughput;
  const double used = peak_used(sample);
  if (sample.size < limits().max && used >= sample.size) {
    state_ = ProbingState::kUp;
    const double probed = stable_size_ * (1.0 + settings_.step_multiple);
    return std::max(whole_size(probed, limits()), sample.size + 1);
  }
  if (used > limits().min) {
    state_ = ProbingState::kDown;
    const double probed = stable_size_ * (1.0 - settings_.step_multiple);
    return std::min(whole_size(probed, limits()), sample.size - 1);
  }
  return sample.size;
}

int ProbingClimber::end_probe(const Sample& sample) {
  if (sample.throughput > stable_throughput_) {
    stable_size_ += settings_.moving_average_weight * (sample.size - stable_size_);
  }
  state_ = ProbingState::kStable;
  return whole_size(stable_size_, limits());
}

}  // namespace poolpilot
