// Where the connections of all hybrid pools of the simulator are, and which threads own one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/parts.hpp"

namespace poolpilot::sim {

struct HybridPlaces {
  struct OfConnection {
    std::uint32_t owner = kNobody;  // the thread that has it for itself
    bool owner_sleeps = false;      // and waits for it
    bool in_epoll = false;          // which looks out for its next request
    bool asked = false;             // a request has come, and no epoll has found it
    std::uint32_t served_in = 0;    // era of the pool in which its turn began, or went on
  };

  explicit HybridPlaces(std::size_t count) : connections(count) {}

  // kNobody where the thread has none.
  std::uint32_t& owned_by(std::uint32_t thread) {
    if (owned.size() <= thread) owned.resize(thread + 1, kNobody);
    return owned[thread];
  }

  void ask(OfConnection& connection) {
    connection.asked = true;
    ++asked;
  }
  // Whether a request had come, which is taken now.
  bool take_asked(OfConnection& connection) {
    const bool had = std::exchange(connection.asked, false);
    if (had) --asked;
    return had;
  }

  std::vector<OfConnection> connections;
  std::vector<std::uint32_t> owned;  // connections, by thread
  std::size_t asked = 0;
};

}  // namespace poolpilot::sim
