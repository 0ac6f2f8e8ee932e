// One connection of the load generator: frames out, responses in, at most one request under way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "live/protocol.hpp"
#include "load/report.hpp"
#include "system/descriptor.hpp"

namespace poolpilot::load {

// What an error of a socket means.
Fault fault_of(int error);

class Connection {
 public:
  bool is_open() const { return socket_.valid(); }
  int descriptor() const { return socket_.get(); }
  void open(Descriptor socket);
  void close() { socket_ = Descriptor(); }

  // Sends a whole frame. Returns 0 or an error; EAGAIN while the connection is not there yet.
  int send(std::span<const std::byte> frame);

  // Reads once without blocking, into a buffer lent by the caller, and appends the responses that
  // are complete.
  std::optional<Fault> receive(std::span<std::byte> buffer, std::vector<Response>& responses);

  // Whether all it has sent has reached the system of the server, which may have closed meanwhile.
  // Of TCP; a Unix socket has taken nothing else.
  bool has_delivered() const;

  std::uint64_t request_id = 0;
  std::int64_t sent_ns = 0;
  std::uint16_t class_id = 0;  // closed loop: for good; open loop: of the request under way
  bool waiting = false;

 private:
  std::uint8_t torn_bytes_ = 0;
  Descriptor socket_;
  std::array<std::byte, kResponseBytes> torn_;  // the response that is not complete yet
};

static_assert(sizeof(Connection) <= 64);  // there may be tens of thousands

}  // namespace poolpilot::load
