#include "climb/sample.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace poolpilot {
namespace {

void require(const char* name, double value, double low) {
  if (std::isfinite(value) && value >= low) return;
  std::ostringstream text;
  text << "the sample's " << name << " is " << value << ", but must be a finite number, at least "
       << low;
  throw std::invalid_argument(text.str());
}

}  // namespace

void Sample::validate() const {
  require("throughput", throughput, 0.0);
  require("connections", connections, 0.0);
  require("latency_s", latency_s, 0.0);
  require("size", size, 1.0);
}

}  // namespace poolpilot
