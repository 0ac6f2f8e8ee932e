#include "climb/sample.hpp"

#include <cmath>

namespace poolpilot {
namespace {

bool is_amount(double value) { return std::isfinite(value) && value >= 0.0; }

}  // namespace

Flaw flaw_of(const Sample& sample, double longest_s) {
  if (!is_amount(sample.throughput)) return Flaw::kThroughput;
  if (!is_amount(sample.connections)) return Flaw::kConnections;
  if (!is_amount(sample.latency_s)) return Flaw::kLatency;
  if (sample.size < 1) return Flaw::kSize;
  if (!is_amount(sample.duration_s) || sample.duration_s > longest_s) return Flaw::kClock;
  return Flaw::kNone;
}

double in_system_of(const Sample& sample) {
  return sample.in_system >= 0.0 ? sample.in_system : sample.throughput * sample.latency_s;
}

bool is_too_little(const Sample& sample, double least) {
  const double completed = sample.completed >= 0.0 ? sample.completed : sample.throughput;
  return sample.throughput == 0.0 || completed == 0.0 || (completed < least && !is_busy(sample));
}

bool is_busy(const Sample& sample) { return in_system_of(sample) > sample.size; }

const char* name_of(Flaw flaw) {
  switch (flaw) {
    case Flaw::kNone:
      return "";
    case Flaw::kThroughput:
      return "its throughput is absent, negative or not finite";
    case Flaw::kConnections:
      return "its number of connections is negative or not finite";
    case Flaw::kLatency:
      return "its latency is negative or not finite";
    case Flaw::kSize:
      return "its pool size is below 1";
    case Flaw::kClock:
      return "its duration is impossible: the clock has jumped";
  }
  return "?";
}

}  // namespace poolpilot
