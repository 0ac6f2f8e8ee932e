// One client connection and what must survive between its requests.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "live/protocol.hpp"
#include "policy/admission.hpp"
#include "queues/classifier.hpp"

namespace poolpilot {

class ConnectionHome;

// Touched by one thread at a time: the one whose turn it is. Its home orders these turns and owns
// the connection in between. A group does so under its mutex: a connection is armed under it, and
// taken out of the poll's answer under it; while it is armed the group's timer may end it. One that
// waits for admission belongs to nobody, as live/admission_gate.hpp says.
struct Connection : AdmissionTicket, Sender {
  Connection(int socket, std::uint64_t number) : fd(socket), id(number) {}

  int fd;
  std::uint64_t id;
  ConnectionHome* home = nullptr;  // from its welcome on; changes in the middle of a turn only
  ConnectionHome* host = nullptr;  // whose thread serves it in this turn; nullptr: its home's
  bool fresh = true;               // its first turn only arms it, as a login would
  bool timed_out = false;          // was silent for too long; its next turn closes it
  bool client_gone = false;        // nothing more can come in
  std::bitset<kLatches> held_latches;
  std::int64_t parked_ns = 0;  // when its request had to wait for admission; 0: it did not
  std::int64_t enqueued_ns = 0;
  std::int64_t last_response_ns = 0;
  std::size_t buffered = 0;
  std::array<std::byte, 2 * kMaxBodyBytes> buffer;
  Request request;  // kept to reuse its memory

  // What a group keeps of those that live in it.
  bool watched = false;            // its epoll knows the connection
  bool armed = false;              // and it was not queued since: no worker owns it
  std::size_t place = 0;           // among the connections of the group
  std::int64_t idle_until_us = 0;  // while it is armed
  std::uint32_t served_in = 0;     // era of a hybrid pool in which its turn began, or went on

  Connection* next_gone = nullptr;  // of those that have hung up and one thread is about to close
};

}  // namespace poolpilot
