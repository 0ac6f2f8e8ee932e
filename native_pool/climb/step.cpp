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

int whole(double size) { return static_cast<int>(std::lround(std::min(size, 1e9))); }

}  // namespace

int StepLength::up(const SpectralSettings& settings, Wave wave, double lead) {
  const double step = settings.relative_gain
                          ? limited(settings, wave, settings.hcm_step_gain * lead)
                          : wave.high - wave.low;
  steps_up_ += step;
  leads_up_ += lead;
  return settings.relative_gain ? whole(wave.low * std::exp(step)) : wave.high;
}

int StepLength::down(const SpectralSettings& settings, Wave wave, double lead) const {
  const double first = settings.relative_gain ? settings.hcm_step_gain : wave.high - wave.low;
  const double gain = leads_up_ > 0.0 ? steps_up_ / leads_up_ : first;
  const double wish = gain * std::abs(lead);
  const int target = settings.relative_gain
                         ? whole(wave.low * std::exp(-limited(settings, wave, wish)))
                         : wave.low - whole(std::min(std::max(wish, 1.0), wave.low * 1.0));
  return std::max(1, std::min(target, wave.low - 1));
}

}  // namespace poolpilot
