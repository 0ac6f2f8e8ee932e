#include "climb/decision.hpp"

#include <cmath>

namespace poolpilot {
namespace {

struct Words {
  const char* decision;
  const char* text;
};

Words words_of(Reason reason) {
  switch (reason) {
    case Reason::kStart:
      return {"start", "starts cold"};
    case Reason::kScanning:
      return {"scan", "looks at sizes far apart before the first wave"};
    case Reason::kDescending:
      return {"scan", "looks whether fewer threads do as well"};
    case Reason::kSettling:
      return {"none", "the size has just moved: the sample is left out"};
    case Reason::kListening:
      return {"wave", "the wave goes on"};
    case Reason::kNoTrendYet:
      return {"grow", "no trend yet: the wave grows"};
    case Reason::kRising:
      return {"jump up", "throughput rises with the size: jump up"};
    case Reason::kFalling:
      return {"jump down", "throughput does not pay for the size: jump down"};
    case Reason::kFlat:
      return {"walk left", "plateau: walk left to the knee"};
    case Reason::kInside:
      return {"narrow", "the optimum lies to both sides: a wave inside the bracket"};
    case Reason::kDuel:
      return {"wave", "two sizes may be best: a wave between them"};
    case Reason::kFound:
      return {"hold", "the bracket is narrow enough: hold"};
    case Reason::kNoTrendInside:
      return {"hold", "no trend is left inside the bracket: hold"};
    case Reason::kFalseJump:
      return {"narrow", "false jump refused: too few connections"};
    case Reason::kWarm:
      return {"start", "starts on the given optimum"};
    case Reason::kHolding:
      return {"hold", "what is measured fits its reference"};
    case Reason::kChecking:
      return {"hold", "what is measured has left its reference: the held size is measured again"};
    case Reason::kCameBack:
      return {"hold", "what had left its reference is back: so is the held size"};
    case Reason::kFalseOptimum:
      return {"restart", "false optimum: more threads than connections"};
    case Reason::kFalseSummit:
      return {"restart", "false optimum: a better size is known"};
    case Reason::kCurveChanged:
      return {"restart", "the curve has changed: known points do not foretell it"};
    case Reason::kThroughputLeft:
      return {"restart", "throughput left its reference"};
    case Reason::kConnectionsLeft:
      return {"restart", "connections left their reference"};
    case Reason::kLatencyLeft:
      return {"restart", "latency left its reference"};
    case Reason::kForced:
      return {"restart", "size was changed from outside"};
    case Reason::kNoConnections:
      return {"restart", "no connections"};
    case Reason::kSteepDecline:
      return {"restart", "unnaturally steep decline"};
    case Reason::kTooLow:
      return {"pause", "throughput too low to climb"};
    case Reason::kFlawed:
      return {"drop", "the sample is dropped"};
    case Reason::kSwitchedOff:
      return {"none", "switched off"};
    case Reason::kSettingsChanged:
      return {"restart", "the settings have changed"};
  }
  return {"?", "?"};
}

}  // namespace

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::kUsual:
      return "USUAL";
    case Mode::kPlateau:
      return "PLATEAU";
    case Mode::kOptimized:
      return "OPTIMIZED";
  }
  return "?";
}

const char* decision_of(Reason reason) { return words_of(reason).decision; }

const char* text_of(Reason reason) { return words_of(reason).text; }

bool has_left_reference(Reason reason) {
  return reason == Reason::kThroughputLeft || reason == Reason::kConnectionsLeft ||
         reason == Reason::kLatencyLeft;
}

std::string with_detail(const std::string& sentence, Flaw flaw, const std::string& detail,
                        double deviation) {
  if (flaw != Flaw::kNone) return sentence + ": " + name_of(flaw);
  if (!detail.empty() || deviation == 0.0) return sentence + detail;
  return sentence + " by " + std::to_string(static_cast<int>(std::lround(100.0 * deviation))) +
         " %";
}

std::string ClimbRecord::text() const {
  const std::string detail = reason == Reason::kForced ? " to " + std::to_string(size) : "";
  return with_detail(text_of(reason), flaw, detail, deviation);
}

}  // namespace poolpilot
