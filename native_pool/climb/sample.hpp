// What a climber is told about one sampling interval.
#pragma once

namespace poolpilot {

struct Sample {
  double throughput = 0.0;   // what is climbed on: completed requests per second, or their worth
  double connections = 0.0;  // open connections
  double latency_s = 0.0;    // mean latency in seconds, 0 when nothing completed
  int size = 0;              // pool size in force during the interval
  double duration_s = 0.0;   // length of the interval in seconds; 0: as long as was asked for
  double in_system = -1.0;   // mean number of requests that ran or waited; below 0: not known
  double completed = -1.0;   // completed requests per second; below 0: as many as `throughput`
};

// Why a sample cannot be used.
enum class Flaw { kNone, kThroughput, kConnections, kLatency, kSize, kClock };

// The first flaw of a sample: a throughput that is not a finite number of at least 0 (NaN says that
// there is none), connections or a latency likewise, a size below 1, or a duration that is not
// finite, negative, or longer than `longest_s`: the clock has jumped.
Flaw flaw_of(const Sample& sample, double longest_s);

// Mean number of requests in the system; where it is not known, it follows from throughput and
// latency (Little's law).
double in_system_of(const Sample& sample);

// Whether too little was completed to tell anything: less than `least` a second where no requests
// waited, or nothing. What is climbed on may be worth far less than one request a second, and does
// not count here.
bool is_too_little(const Sample& sample, double least);

// Whether requests waited: more of them were in the system than the pool has groups.
bool is_busy(const Sample& sample);

const char* name_of(Flaw flaw);

}  // namespace poolpilot
