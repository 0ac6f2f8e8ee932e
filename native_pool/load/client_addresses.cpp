#include "load/client_addresses.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <fstream>

namespace poolpilot::load {
namespace {

constexpr std::size_t kUsualPorts = 28'232;  // Linux's default, 32768 to 60999

}  // namespace

ClientAddresses::ClientAddresses(std::size_t connections, std::size_t ports) {
  const std::size_t usable = std::max<std::size_t>(ports / 2, 1);
  addresses_ = std::max<std::size_t>((connections + usable - 1) / usable, 1);
}

std::optional<in_addr> ClientAddresses::of(std::size_t connection) const {
  const auto further = static_cast<in_addr_t>(connection % addresses_);
  if (further == 0) return std::nullopt;
  return in_addr{htonl(INADDR_LOOPBACK + further)};
}

std::size_t local_ports() {
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::size_t first = 0;
  std::size_t last = 0;
  if (!(range >> first >> last) || last < first) return kUsualPorts;
  return last - first + 1;
}

}  // namespace poolpilot::load
