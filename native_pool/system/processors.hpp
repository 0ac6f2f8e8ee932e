// How many processors a thread has.
#pragma once

#include <sched.h>

#include <vector>

namespace poolpilot {

// Those it is pinned to; of none, all that the process may use.
inline int processors(const std::vector<int>& pinned_to) {
  if (!pinned_to.empty()) return static_cast<int>(pinned_to.size());
  cpu_set_t process;
  CPU_ZERO(&process);
  sched_getaffinity(0, sizeof(process), &process);
  return CPU_COUNT(&process);
}

}  // namespace poolpilot
