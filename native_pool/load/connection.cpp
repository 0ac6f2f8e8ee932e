#include "load/connection.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

namespace poolpilot::load {
Fault fault_of(int error) {
  switch (error) {
    case EPIPE:
    case ECONNRESET:
      return Fault::kReset;
    case ECONNREFUSED:
    case ETIMEDOUT:
    case ENOENT:
      return Fault::kNotConnected;
    case EADDRNOTAVAIL:
      return Fault::kNoLocalPort;
    default:
      return Fault::kSocket;
  }
}

void Connection::open(Descriptor socket) {
  socket_ = std::move(socket);
  torn_bytes_ = 0;
}

int Connection::send(std::span<const std::byte> frame) {
  const ssize_t written = ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  if (written < 0) return errno;
  // The one frame under way always fits the socket's buffer, so a part of it means a broken socket.
  return std::cmp_equal(written, frame.size()) ? 0 : EIO;
}

std::optional<Fault> Connection::receive(std::span<std::byte> buffer,
                                         std::vector<Response>& responses) {
  assert(buffer.size() > torn_.size());
  std::memcpy(buffer.data(), torn_.data(), torn_bytes_);
  const std::span<std::byte> room = buffer.subspan(torn_bytes_);
  const ssize_t got = recv(socket_.get(), room.data(), room.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got < 0) return fault_of(errno);
  if (got == 0) return Fault::kClosedByServer;
  std::span<const std::byte> rest = buffer.first(torn_bytes_ + static_cast<std::size_t>(got));
  Response response;
  try {
    while (const std::size_t used = decode_response(rest, response)) {
      rest = rest.subspan(used);
      responses.push_back(response);
    }
  } catch (const ProtocolError&) {
    return Fault::kMalformed;
  }
  assert(rest.size() < torn_.size());  // more would have been a response
  torn_bytes_ = static_cast<std::uint8_t>(rest.size());
  std::memcpy(torn_.data(), rest.data(), rest.size());
  return std::nullopt;
}

// What comes after a shutdown of the other end is never acknowledged, and what came before is by
// it.
bool Connection::has_delivered() const {
  int unacknowledged = 0;
  return ioctl(socket_.get(), SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
}

}  // namespace poolpilot::load
