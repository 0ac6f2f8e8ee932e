// Modes of the climber and the record it keeps of every update.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "climb/sample.hpp"

namespace poolpilot {

enum class Mode { kUsual, kPlateau, kOptimized };
const char* name_of(Mode mode);

// What an update led to, and why.
enum class Reason {
  kStart,
  kScanning,
  kDescending,
  kSettling,
  kListening,
  kNoTrendYet,
  kRising,
  kFalling,
  kFlat,
  kInside,
  kDuel,
  kFound,
  kNoTrendInside,
  kFalseJump,
  kWarm,
  kHolding,
  kChecking,
  kCameBack,
  kFalseOptimum,
  kFalseSummit,
  kCurveChanged,
  kThroughputLeft,
  kConnectionsLeft,
  kLatencyLeft,
  kForced,
  kNoConnections,
  kSteepDecline,
  kTooLow,
  kFlawed,
  kSwitchedOff,
  kSettingsChanged,
};

// One word for what is done: start, scan, wave, grow, jump up, jump down, walk left, narrow, hold,
// restart, pause, drop, none.
const char* decision_of(Reason reason);

// The reason in a sentence.
const char* text_of(Reason reason);

// Whether a held measure has left its reference.
bool has_left_reference(Reason reason);

// A sentence with what belongs to it: the flaw of the sample, else the detail, else the relative
// deviation where there is one.
std::string with_detail(const std::string& sentence, Flaw flaw, const std::string& detail,
                        double deviation);

struct ClimbRecord {
  std::int64_t sample = 0;   // number of the update() call, from 1; 0: before the first
  Mode mode = Mode::kUsual;  // mode after the decision
  int size = 0;              // size the sample was measured under
  int next_size = 0;         // size asked for next
  int wave_low = 0;
  int wave_high = 0;
  int bracket_low = 0;  // where the optimum is believed to be
  int bracket_high = 0;
  double throughput = 0.0;                   // of the sample
  std::complex<double> size_harmonic;        // over the mean size
  std::complex<double> throughput_harmonic;  // over the mean throughput
  double ratio = 0.0;                        // elasticity of throughput in size
  double error = 0.0;                        // standard error of that ratio
  double progress = 0.0;                     // ratio above the price, summed over the periods
  double period_s = 0.0;                     // time the next sample should last
  Reason reason = Reason::kStart;
  Flaw flaw = Flaw::kNone;
  double deviation = 0.0;  // relative, of what has left its reference

  // The reason in a sentence, with what belongs to it.
  std::string text() const;
};

}  // namespace poolpilot
