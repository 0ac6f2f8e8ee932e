#include "climb/step.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot {
namespace {

// ln(new size / size) for a wish, at least the wave's own reach and at most the largest step.
double limited(const SpectralSettings& settings, Wave wave, double wish) {
  const double reach = std::log(static_cast<double>(wave.high) / wave.low);
  return std::clamp(wish, reach, std::max(reach, std::log(settings.hcm_max_step_ratio)));
}

}  // namespace

int StepLength::up(const SpectralSettings& settings, Wave wave, double lead) {
  const double step = limited(settings, wave, settings.hcm_step_gain * lead);
  steps_up_ += step;
  leads_up_ += lead;
  return static_cast<int>(std::lround(wave.low * std::exp(step)));
}

int StepLength::down(const SpectralSettings& settings, Wave wave, double lead) const {
  const double gain = leads_up_ > 0.0 ? steps_up_ / leads_up_ : settings.hcm_step_gain;
  const double step = limited(settings, wave, -gain * lead);
  return std::min(static_cast<int>(std::lround(wave.low * std::exp(-step))), wave.low - 1);
}

}  // namespace poolpilot
