// The socket a server listens on: loopback TCP or a Unix path.
#pragma once

#include <string>

#include "live/descriptor.hpp"

namespace poolpilot {

class ListeningSocket {
 public:
  // Binds and listens. Throws std::invalid_argument for an address that is no loopback, and
  // std::system_error when the system refuses, with the address in the text.
  explicit ListeningSocket(const std::string& address);
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int fd() const { return socket_.get(); }
  // The address with the port really taken.
  const std::string& address() const { return address_; }

 private:
  ListeningSocket() = default;
  void bind_tcp(const std::string& port);
  void bind_unix(const std::string& path);

  Descriptor socket_;
  std::string address_;
  std::string unix_path_;
};

}  // namespace poolpilot
