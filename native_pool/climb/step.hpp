// How far a clear trend moves the size.
#pragma once

#include "climb/settings.hpp"
#include "climb/wave.hpp"

namespace poolpilot {

class StepLength {
 public:
  // New low size after a wave whose ratio exceeded e by `lead` > 0: at least the wave's high size,
  // which has proved better, at most `kMaxStepRatio` times its low one. With absolute gain it
  // is the wave's high size.
  int up(const SpectralSettings& settings, Wave wave, double lead);

  // New low size, below the wave's, after a wave whose ratio fell short of e (`lead` < 0). The wave
  // never looked there, so the step is what past steps up were worth per unit of ratio.
  int down(const SpectralSettings& settings, Wave wave, double lead) const;

 private:
  double steps_up_ = 0.0;  // sum of past steps up: ln(new size / size), or threads
  double leads_up_ = 0.0;  // sum of the leads that caused them
};

}  // namespace poolpilot
