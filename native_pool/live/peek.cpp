#include "live/peek.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>

#include "live/protocol.hpp"

namespace poolpilot {

int peek_class(const Connection& connection) {
  std::array<std::byte, kClassPrefixBytes> prefix;
  const std::size_t had = std::min(connection.buffered, prefix.size());
  std::copy_n(connection.buffer.begin(), had, prefix.begin());
  if (had < prefix.size()) {
    const ssize_t got =
        recv(connection.fd, prefix.data() + had, prefix.size() - had, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 || had + static_cast<std::size_t>(got) < prefix.size()) return kAnyClass;
  }
  return class_of_prefix(prefix);
}

}  // namespace poolpilot
