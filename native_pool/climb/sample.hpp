// What the climber is told about one sampling interval.
#pragma once

namespace poolpilot {

struct Sample {
  double throughput = 0.0;   // completed requests per second
  double connections = 0.0;  // open connections
  double latency_s = 0.0;    // mean latency in seconds, 0 when nothing completed
  int size = 0;              // pool size in force during the interval

  // Throws std::invalid_argument naming the first value that is negative, not finite, or, for the
  // size, below 1.
  void validate() const;
};

}  // namespace poolpilot
