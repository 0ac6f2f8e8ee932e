// Loopback sockets of the client's side: addresses, and the limit on descriptors.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <string>

namespace poolpilot::load {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string text;
};

// Reads "tcp:127.x.x.x:PORT" or "unix:/path". Throws std::invalid_argument for anything else: load
// never leaves this host.
Address parse_address(const std::string& text);

// Raises the soft limit on descriptors as far as needed. Throws std::runtime_error when the hard
// limit does not allow this many connections.
void ensure_descriptors(std::size_t connections);

}  // namespace poolpilot::load
