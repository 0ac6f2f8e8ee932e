// What can be told of a client by its socket: whether it is gone, whether it has sent something,
// and what, without a turn of its connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "live/connection.hpp"

namespace poolpilot {

// Whether `events`, of poll(2) or an epoll, mean that nobody could be answered at the socket. A
// hang-up or an error does. A client that only sends no more may wait for its answers, so it is
// gone once nothing is left to read; that is asked of the system.
bool has_hung_up(int socket, std::uint32_t events);

enum class OwnSocket : std::uint8_t {
  kReady,   // there is something to read
  kGone,    // the client has hung up
  kSilent,  // it has said nothing for the whole time
  kCalled,  // the thread is wanted elsewhere, whatever the client does
};

// Returns once something has happened at `socket`, `call` is readable, or `timeout_ms` have passed.
// A client that is gone is one that is ready unless `hang_up_at_once`.
OwnSocket wait_for(int socket, int call, std::int64_t timeout_ms, bool hang_up_at_once);

// From the header that has come in, whole or in part before; kAnyClass where it is not complete yet
// or not valid. Takes nothing off the socket.
int peek_class(const Connection& connection);

// Takes them out of `buffer`, of which `buffered` bytes are in use, and of the socket, and counts
// them. Up to the first that breaks the rules of the protocol: what follows that one is none.
std::int64_t take_unread_requests(int socket, std::span<std::byte> buffer, std::size_t buffered);

}  // namespace poolpilot
