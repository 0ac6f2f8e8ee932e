#include "climb/knob_decision.hpp"

namespace poolpilot {
namespace {

// Where many knobs are climbed a few sentences differ from those about a size.
const char* knob_text_of(Reason reason) {
  switch (reason) {
    case Reason::kSettling:
      return "the values have just moved: the sample is left out";
    case Reason::kListening:
      return "the waves go on";
    case Reason::kNoTrendYet:
      return "no trend yet: the waves grow";
    case Reason::kInside:
      return "slopes stand out of the noise: move";
    case Reason::kFound:
      return "a further move promises too little: hold";
    case Reason::kNoTrendInside:
      return "no trend is left in any knob: hold";
    case Reason::kFalseSummit:
      return "the waves had shown far more than is held: start again higher";
    case Reason::kForced:
      return "values were changed from outside";
    default:
      return text_of(reason);
  }
}

std::string listed(const KnobRecord& record) {
  std::string text = "(";
  for (std::size_t k = 0; k < record.knobs; ++k) {
    if (k > 0) text += ", ";
    text += std::to_string(record.states[k].value);
  }
  return text + ")";
}

}  // namespace

const char* KnobRecord::decision() const {
  return reason == Reason::kInside ? "move" : decision_of(reason);
}

std::string KnobRecord::text() const {
  const std::string detail = reason == Reason::kForced ? " to " + listed(*this) : "";
  return with_detail(knob_text_of(reason), flaw, detail, deviation);
}

}  // namespace poolpilot
