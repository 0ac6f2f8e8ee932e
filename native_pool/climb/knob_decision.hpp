// The record that a climb of many knobs keeps of every update.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "climb/decision.hpp"

namespace poolpilot {

inline constexpr std::size_t kMostKnobs = 4;

// What a record says of one knob.
struct KnobState {
  int value = 0;       // in force during the sample; 0 where nobody told
  int next_value = 0;  // asked for next
  int middle = 0;      // of its wave
  int wave_low = 0;    // of the wave under way, or of the last one where the values are held
  int wave_high = 0;
  double ratio = 0.0;  // elasticity of throughput in this knob, as seen last
  double error = 0.0;  // standard error of that ratio; 0 where there is no measurement
};

struct KnobRecord {
  std::int64_t sample = 0;   // number of the update() call, from 1; 0: before the first
  Mode mode = Mode::kUsual;  // mode after the decision
  std::size_t knobs = 0;     // how many of `states` there are
  std::array<KnobState, kMostKnobs> states;
  double throughput = 0.0;  // of the sample
  double duration_s = 0.0;  // of the sample; 0: as long as was asked for
  double period_s = 0.0;    // time the next sample should last
  Reason reason = Reason::kStart;
  Flaw flaw = Flaw::kNone;
  double deviation = 0.0;  // relative, of what has left its reference

  // One word for what is done: as decision_of(), with move where the knobs move.
  const char* decision() const;

  // The reason in a sentence, with what belongs to it.
  std::string text() const;
};

}  // namespace poolpilot
