#include "climb/trend.hpp"

#include <cmath>

namespace poolpilot {
namespace {

// While the summit may be anywhere, what is within the noise counts as flat, or the climb would
// walk at random. Where both sides are known, a full window is taken at its face value.
Trend judge_unproven(const SpectralSettings& settings, const Evidence& evidence, double progress) {
  const int full = settings.samples_to_wave_period_ratio;
  if (evidence.searching) {
    const int patience = evidence.wave_can_grow ? full / 2 : full;
    return evidence.periods >= patience ? Trend::kFlat : Trend::kUnknown;
  }
  if (evidence.periods < full) return Trend::kUnknown;
  if (std::abs(progress) < settings.hcm_ccs_valuable_progress) return Trend::kFlat;
  return progress > 0.0 ? Trend::kRising : Trend::kFalling;
}

}  // namespace

Trend judge(const SpectralSettings& settings, const Evidence& evidence) {
  const double progress = evidence.lead * evidence.periods;  // accumulated period by period
  const double margin = settings.confidence * evidence.error;
  const double lead = std::abs(evidence.lead);
  if (std::abs(progress) >= settings.hcm_ccs_valuable_progress && lead > margin) {
    return progress > 0.0 ? Trend::kRising : Trend::kFalling;
  }
  const double hopeless =
      settings.hcm_ccs_valuable_progress / settings.samples_to_wave_period_ratio;
  if (lead + margin < hopeless) return Trend::kFlat;
  return judge_unproven(settings, evidence, progress);
}

}  // namespace poolpilot
