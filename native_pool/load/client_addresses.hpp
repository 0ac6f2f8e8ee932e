// The loopback addresses that TCP connections are made from: one has only so many local ports.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <optional>

namespace poolpilot::load {

class ClientAddresses {
 public:
  // For so many connections, where an address has `ports` local ones. Half of these are left to
  // other programs, and to connections of an earlier run that the system still remembers.
  ClientAddresses(std::size_t connections, std::size_t ports);

  // 127.0.0.2 and on, by the number of the connection; none where the system may choose.
  std::optional<in_addr> of(std::size_t connection) const;

 private:
  std::size_t addresses_;
};

// How many local ports the system deals to connections of one address.
std::size_t local_ports();

}  // namespace poolpilot::load
