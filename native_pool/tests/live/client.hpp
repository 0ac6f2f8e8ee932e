// A blocking client for tests of the live server.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "live/protocol.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

class LiveClient {
 public:
  explicit LiveClient(const std::string& address) {
    if (address.starts_with("unix:")) {
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      std::strncpy(name.sun_path, address.c_str() + 5, sizeof(name.sun_path) - 1);
      connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
    } else {
      sockaddr_in name{};
      name.sin_family = AF_INET;
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(14))));
      connect_to(AF_INET, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
      const int on = 1;  // a reset takes away what the system would hold back
      setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    const timeval patience{20, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }

  void send_bytes(const std::vector<std::byte>& bytes) const {
    // A server that has closed already is for the caller to see in read().
    [[maybe_unused]] const ssize_t sent =
        send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  void send_request(std::uint64_t id, const std::vector<Step>& steps,
                    std::uint16_t class_id = 0) const {
    send_bytes(encode_request({{class_id, id, 0}, steps}));
  }

  // The next response; nothing when the server has closed the connection.
  std::optional<Response> read() const {
    std::array<std::byte, kResponseBytes> bytes;
    if (recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL) !=
        static_cast<ssize_t>(bytes.size())) {
      return std::nullopt;
    }
    Response response;
    decode_response(bytes, response);
    return response;
  }

  std::optional<Response> call(std::uint64_t id, const std::vector<Step>& steps,
                               std::uint16_t class_id = 0) const {
    send_request(id, steps, class_id);
    return read();
  }

  int fd() const { return socket_.get(); }

  void close() { socket_ = Descriptor(); }

  // Says that nothing more will be sent, and waits for answers still.
  void finish_sending() const { shutdown(socket_.get(), SHUT_WR); }

  // Closes with a reset, as a client that dies with answers unread.
  void reset() {
    const linger at_once{1, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }

 private:
  void connect_to(int family, const sockaddr* name, socklen_t length) {
    socket_ = Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(socket_.get(), name, length), 0) << std::generic_category().message(errno);
  }

  Descriptor socket_;
};

}  // namespace poolpilot
