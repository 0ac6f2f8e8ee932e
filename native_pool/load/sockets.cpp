#include "load/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace poolpilot::load {
namespace {

// Beside the connections: standard streams, epoll, timer, what Python holds open.
constexpr std::size_t kOtherDescriptors = 64;

Address parse_tcp(const std::string& text, const std::string& rest) {
  Address address;
  address.text = text;
  const std::size_t colon = rest.rfind(':');
  sockaddr_in tcp{};
  tcp.sin_family = AF_INET;
  std::uint16_t port = 0;
  const char* const end = rest.data() + rest.size();
  const bool split = colon != std::string::npos;
  const auto parsed = std::from_chars(split ? rest.data() + colon + 1 : end, end, port);
  const bool host_ok =
      split && inet_pton(AF_INET, rest.substr(0, colon).c_str(), &tcp.sin_addr) == 1;
  if (!host_ok || parsed.ec != std::errc{} || parsed.ptr != end || port == 0 ||
      (ntohl(tcp.sin_addr.s_addr) >> 24) != IN_LOOPBACKNET) {
    throw std::invalid_argument("'" + text +
                                "' is no loopback address; use tcp:127.0.0.1:PORT or unix:/path.");
  }
  tcp.sin_port = htons(port);
  std::memcpy(&address.storage, &tcp, sizeof(tcp));
  address.length = sizeof(tcp);
  return address;
}

Address parse_unix(const std::string& text, const std::string& path) {
  Address address;
  address.text = text;
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  if (path.empty() || path.front() != '/' || path.size() >= sizeof(local.sun_path)) {
    throw std::invalid_argument(
        "'" + text + "' is no Unix socket; its path must begin with / and " + "have at most " +
        std::to_string(sizeof(local.sun_path) - 1) + " bytes.");
  }
  std::memcpy(local.sun_path, path.data(), path.size());
  std::memcpy(&address.storage, &local, sizeof(local));
  address.length = sizeof(local);
  return address;
}

}  // namespace

Address parse_address(const std::string& text) {
  if (text.starts_with("unix:")) return parse_unix(text, text.substr(5));
  return parse_tcp(text, text.starts_with("tcp:") ? text.substr(4) : std::string());
}

void ensure_descriptors(std::size_t connections) {
  const rlim_t needed = connections + kOtherDescriptors;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw std::runtime_error(std::to_string(connections) + " connections need " +
                             std::to_string(needed) + " open files but the limit is " +
                             std::to_string(limit.rlim_max) + "; raise it (ulimit -n " +
                             std::to_string(needed) + " as root) or deal them to more processes.");
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot raise the limit on open files");
  }
}

}  // namespace poolpilot::load
