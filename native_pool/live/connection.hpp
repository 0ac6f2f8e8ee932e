// One client connection and what must survive between its requests.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "live/protocol.hpp"

namespace poolpilot {

class Group;

// Touched by one worker at a time: the one that took it from a group's queue. The group's mutex and
// `armed` order these turns.
struct Connection {
  Connection(int socket, std::uint64_t number) : fd(socket), id(number) {}

  int fd;
  std::uint64_t id;
  // Counts the turns that ended. Release when a worker arms the connection, acquire when a poll
  // brings it back: one-shot epoll passes it on, but the language knows no order through the
  // kernel.
  std::atomic<std::uint64_t> armed{0};
  Group* group = nullptr;
  bool fresh = true;     // its first turn only arms it, as a login would
  bool watched = false;  // the epoll of its group knows it
  bool in_transaction = false;
  std::bitset<kLatches> held_latches;
  std::int64_t enqueued_ns = 0;
  std::int64_t last_response_ns = 0;
  std::size_t buffered = 0;
  std::array<std::byte, 2 * kMaxBodyBytes> buffer;
  Request request;  // kept to reuse its memory
};

}  // namespace poolpilot
