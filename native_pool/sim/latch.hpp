// A contended latch of the simulator: spinners first, then sleepers in FIFO order, as
// live/latch.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/event_heap.hpp"

namespace poolpilot::sim {

// Owned by a connection, as in the live server: a transaction holds latches between its requests.
struct Latch {
  std::uint32_t owner = kNobody;
  int waiters = 0;                      // threads that spin, sleep, or have been woken to try
  std::vector<std::uint32_t> spinners;  // in order of their arrival
  std::vector<std::uint32_t> sleepers;  // the last is the head of the queue
  TimeNs check_ns = kNever;             // when the first of them may have slept for too long

  bool free_for(std::uint32_t connection) const { return owner == kNobody || owner == connection; }

  void sleep_at_tail(std::uint32_t thread) { sleepers.insert(sleepers.begin(), thread); }
  void sleep_at_head(std::uint32_t thread) { sleepers.push_back(thread); }

  std::uint32_t wake_head() {
    const std::uint32_t thread = sleepers.back();
    sleepers.pop_back();
    return thread;
  }

  static void forget(std::vector<std::uint32_t>& threads, std::uint32_t thread) {
    threads.erase(std::remove(threads.begin(), threads.end(), thread), threads.end());
  }
};

}  // namespace poolpilot::sim
