// The socket a server listens on: loopback TCP or a Unix path.
#pragma once

#include <cstdint>
#include <string>

#include "system/descriptor.hpp"

namespace poolpilot {

class ListeningSocket {
 public:
  enum class Accepted : std::uint8_t {
    kClient,
    kNobody,    // none waits, or the one that did has gone
    kShortage,  // the system has no descriptor or memory for it; it waits on in the backlog
  };

  // Binds and listens. Throws std::invalid_argument for an address that is no loopback, and
  // std::system_error when the system refuses, with the address in the text.
  explicit ListeningSocket(const std::string& address);
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  // Takes the next client of the backlog; `client` is its socket, ready to use, where there is one.
  Accepted accept(int& client) const;

  // How many accept() hands over from now on at most: those who have connected by now. Over a Unix
  // socket nobody can connect any more. TCP has no such call that would spare those who wait:
  // whoever comes later is reset once the socket is closed.
  int end_backlog() const;

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
