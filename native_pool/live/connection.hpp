// One client connection and what must survive between its requests.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "live/protocol.hpp"

namespace poolpilot {

class Group;

// Touched by one worker at a time: the one that took it from a group's queue. The group's mutex
// orders these turns: a connection is armed under it, and taken out of the poll's answer under it.
// While it is armed it belongs to its group, whose timer may end it.
struct Connection {
  Connection(int socket, std::uint64_t number) : fd(socket), id(number) {}

  int fd;
  std::uint64_t id;
  Group* group = nullptr;
  bool fresh = true;       // its first turn only arms it, as a login would
  bool watched = false;    // the epoll of its group knows it
  bool armed = false;      // and not queued since: no worker owns it
  bool timed_out = false;  // was silent for too long; its next turn closes it
  bool in_transaction = false;
  std::bitset<kLatches> held_latches;
  std::size_t place = 0;           // among the connections of its group
  std::int64_t idle_until_us = 0;  // while it is armed
  std::int64_t enqueued_ns = 0;
  std::int64_t last_response_ns = 0;
  std::size_t buffered = 0;
  std::array<std::byte, 2 * kMaxBodyBytes> buffer;
  Request request;  // kept to reuse its memory
};

}  // namespace poolpilot
