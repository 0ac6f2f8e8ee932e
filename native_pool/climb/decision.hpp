// Modes of the climber and the entries of its log.
#pragma once

#include <cstdint>
#include <string>

namespace poolpilot {

enum class Mode { kUsual, kPlateau, kOptimized };

constexpr const char* name_of(Mode mode) {
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

struct ClimbDecision {
  std::int64_t sample = 0;   // number of the update() call, from 1
  Mode mode = Mode::kUsual;  // mode after the decision
  int size = 0;              // size asked for next
  double ratio = 0.0;        // elasticity of throughput in size seen at the wave's period
  double noise = 0.0;        // standard error of that ratio
  std::string reason;
};

}  // namespace poolpilot
