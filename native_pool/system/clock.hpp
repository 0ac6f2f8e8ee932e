// The two clocks of the live server, and what it records of their differences.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace poolpilot {

inline std::int64_t read_clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// Monotonic time, shared by all processes of a host.
inline std::int64_t now_ns() { return read_clock_ns(CLOCK_MONOTONIC); }

// CPU time of the calling thread. A system call, unlike now_ns: some hundred nanoseconds.
inline std::int64_t thread_cpu_ns() { return read_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// 0 where a difference is negative.
inline std::uint64_t whole_us(std::int64_t ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0) / 1'000);
}

}  // namespace poolpilot
