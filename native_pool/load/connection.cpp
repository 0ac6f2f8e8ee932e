#include "load/connection.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace poolpilot::load {
namespace {

Fault fault_of(int error) {
  return error == EPIPE || error == ECONNRESET ? Fault::kReset : Fault::kSocket;
}

}  // namespace

std::optional<Fault> Connection::send(std::span<const std::byte> frame) {
  const ssize_t written = ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  if (written < 0) return fault_of(errno);
  // The one frame under way always fits the socket's buffer, so a part of it means a broken socket.
  if (static_cast<std::size_t>(written) < frame.size()) return Fault::kSocket;
  return std::nullopt;
}

std::optional<Fault> Connection::receive(std::vector<Response>& responses) {
  const std::span<std::byte> room = std::span(input_).subspan(filled_);
  const ssize_t got = recv(socket_.get(), room.data(), room.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got < 0) return fault_of(errno);
  if (got == 0) return Fault::kClosedByServer;
  filled_ += static_cast<std::size_t>(got);
  const std::span<const std::byte> bytes = std::span(input_).first(filled_);
  std::size_t done = 0;
  Response response;
  try {
    while (const std::size_t used = decode_response(bytes.subspan(done), response)) {
      done += used;
      responses.push_back(response);
    }
  } catch (const ProtocolError&) {
    return Fault::kMalformed;
  }
  filled_ -= done;
  std::memmove(input_.data(), input_.data() + done, filled_);
  return std::nullopt;
}

}  // namespace poolpilot::load
