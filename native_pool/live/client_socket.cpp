#include "live/client_socket.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "live/protocol.hpp"

namespace poolpilot {
namespace {

constexpr std::int64_t kLongestPollMs = std::numeric_limits<int>::max();

// Bytes that have come and were not read; -1 where the system does not say.
int unread_bytes(int socket) {
  int unread = 0;
  return ioctl(socket, FIONREAD, &unread) == 0 ? unread : -1;
}

}  // namespace

static_assert(EPOLLHUP == POLLHUP && EPOLLERR == POLLERR && EPOLLRDHUP == POLLRDHUP);

bool has_hung_up(int socket, std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return true;
  if ((events & EPOLLRDHUP) == 0) return false;
  return unread_bytes(socket) == 0;
}

OwnSocket wait_for(int socket, int call, std::int64_t timeout_ms, bool hang_up_at_once) {
  std::array<pollfd, 2> watched{pollfd{call, POLLIN, 0}, pollfd{socket, POLLIN | POLLRDHUP, 0}};
  int ready = 0;
  while (ready <= 0) {
    const std::int64_t part_ms = std::min(timeout_ms, kLongestPollMs);
    ready = poll(watched.data(), watched.size(), static_cast<int>(part_ms));
    if (ready == 0) timeout_ms -= part_ms;
    if (ready == 0 && timeout_ms <= 0) return OwnSocket::kSilent;
  }
  if (watched[0].revents != 0) return OwnSocket::kCalled;
  const auto events = static_cast<std::uint32_t>(watched[1].revents);
  return hang_up_at_once && has_hung_up(socket, events) ? OwnSocket::kGone : OwnSocket::kReady;
}

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
      // Asked first, because most connections end with nothing to read and a read is dearer.
      if (unread_bytes(socket) <= 0) return count;
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
