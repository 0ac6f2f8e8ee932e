#include "live/unread_requests.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "live/protocol.hpp"

namespace poolpilot {
namespace {

// Asked first, because most connections end with nothing to read and a read is dearer.
bool has_unread_bytes(int socket) {
  int unread = 0;
  return ioctl(socket, FIONREAD, &unread) == 0 && unread > 0;
}

}  // namespace

std::int64_t take_unread_requests(int socket, std::span<std::byte> buffer, std::size_t buffered) {
  Request request;
  std::int64_t count = 0;
  try {
    while (true) {
      std::span<const std::byte> rest = buffer.first(buffered);
      while (const std::size_t frame = decode_request(rest, request)) {
        rest = rest.subspan(frame);
        ++count;
      }
      std::memmove(buffer.data(), rest.data(), rest.size());
      if (!has_unread_bytes(socket)) return count;
      const std::span<std::byte> room = buffer.subspan(rest.size());
      const ssize_t got = recv(socket, room.data(), room.size(), 0);
      if (got <= 0) return count;
      buffered = rest.size() + static_cast<std::size_t>(got);
    }
  } catch (const ProtocolError&) {
    return count;
  }
}

}  // namespace poolpilot
