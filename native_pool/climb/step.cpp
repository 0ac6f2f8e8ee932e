#include "climb/step.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {
namespace {

// First ln(new size / size) per unit of slope: a slope of a half asks for a step of e.
constexpr double kStepGain = 2.0;

// ln(new size / size) for a wish, at least the wave's own reach and at most the largest step.
double limited(Wave wave, double wish) {
  const double reach = std::log(static_cast<double>(wave.high) / wave.low);
  return std::clamp(wish, reach, std::max(reach, std::log(kMaxStepRatio)));
}

int whole(double size) { return static_cast<int>(std::lround(std::min(size, 1e9))); }

}  // namespace

int StepLength::up(const SpectralSettings& settings, Wave wave, double lead) {
  const bool absolute = settings.trubs_method;
  const double step = absolute ? wave.high - wave.low : limited(wave, kStepGain * lead);
  steps_up_ += step;
  leads_up_ += lead;
  return absolute ? wave.high : whole(wave.low * std::exp(step));
}

int StepLength::down(const SpectralSettings& settings, Wave wave, double lead) const {
  const double first = settings.trubs_method ? wave.high - wave.low : kStepGain;
  const double gain = leads_up_ > 0.0 ? steps_up_ / leads_up_ : first;
  const double wish = gain * std::abs(lead);
  const int target = settings.trubs_method
                         ? wave.low - whole(std::min(std::max(wish, 1.0), wave.low * 1.0))
                         : whole(wave.low * std::exp(-limited(wave, wish)));
  return std::max(1, std::min(target, wave.low - 1));
}

}  // namespace poolpilot
