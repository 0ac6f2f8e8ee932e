// What a wave says about the slope under it.
#pragma once

#include "climb/settings.hpp"

namespace poolpilot {

enum class Trend { kUnknown, kRising, kFalling, kFlat };

struct Evidence {
  double lead = 0.0;           // ratio above e
  double error = 0.0;          // its standard error
  int periods = 0;             // periods of the wave behind it
  bool searching = false;      // the summit may still be anywhere on one side
  bool wave_can_grow = false;  // a larger wave would see more
};

// A trend must have accumulated `hcm_ccs_valuable_progress` and stand out of the noise. Unknown
// asks for another period; flat means that waiting is hopeless, or that the window is full.
Trend judge(const SpectralSettings& settings, const Evidence& evidence);

}  // namespace poolpilot
