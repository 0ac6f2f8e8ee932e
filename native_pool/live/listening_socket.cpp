#include "live/listening_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "settings/range.hpp"

namespace poolpilot {
namespace {

constexpr int kBacklog = 65'535;  // the system cuts it to its net.core.somaxconn
constexpr int kUnixSendBuffer = 2 << 20;
const std::string kTcp = "tcp:127.0.0.1:";
const std::string kUnix = "unix:";

[[noreturn]] void refuse(const std::string& address) {
  throw std::system_error(errno, std::generic_category(), "cannot listen on " + address);
}

Descriptor open_socket(int family, const std::string& address) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) refuse(address);
  return socket;
}

// Whether the error belongs to one client, or to none: accept(2) wants it treated like EAGAIN.
bool is_passing(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // a rule of the firewall
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Delegates, so that a constructor which throws later runs the destructor and leaves no path.
ListeningSocket::ListeningSocket(const std::string& address) : ListeningSocket() {
  address_ = address;
  if (address.starts_with(kTcp)) {
    bind_tcp(address.substr(kTcp.size()));
  } else if (address.starts_with(kUnix)) {
    bind_unix(address.substr(kUnix.size()));
  } else {
    throw std::invalid_argument("address '" + address +
                                "' is neither tcp:127.0.0.1:PORT nor unix:PATH");
  }
}

ListeningSocket::~ListeningSocket() {
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

ListeningSocket::Accepted ListeningSocket::accept(int& client) const {
  client = accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (client < 0) return is_passing(errno) ? Accepted::kNobody : Accepted::kShortage;
  if (unix_path_.empty()) {
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  } else {
    // TCP packs small answers together and grows its buffer by itself. A Unix socket charges each
    // with a packet of its own, some 800 bytes, and by default has room for some 270; the system
    // grants as much of this as its wmem_max allows.
    setsockopt(client, SOL_SOCKET, SO_SNDBUF, &kUnixSendBuffer, sizeof(kUnixSendBuffer));
  }
  return Accepted::kClient;
}

int ListeningSocket::end_backlog() const {
  if (!unix_path_.empty()) {
    shutdown(socket_.get(), SHUT_RD);
    return kBacklog;
  }
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return kBacklog;
  return static_cast<int>(info.tcpi_unacked);  // of a socket that listens: its backlog
}

void ListeningSocket::bind_tcp(const std::string& port) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size()) {
    refuse_setting("port", "'" + port + "'", "in 0..65535");
  }
  socket_ = open_socket(AF_INET, address_);
  const int on = 1;
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(number);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&name);
  if (bind(socket_.get(), generic, sizeof(name)) != 0) refuse(address_);
  if (listen(socket_.get(), kBacklog) != 0) refuse(address_);
  socklen_t length = sizeof(name);
  getsockname(socket_.get(), generic, &length);
  address_ = kTcp + std::to_string(ntohs(name.sin_port));
}

void ListeningSocket::bind_unix(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(name.sun_path)) {
    throw std::invalid_argument("the path of a Unix socket has 1.." +
                                std::to_string(sizeof(name.sun_path) - 1) + " bytes, not " +
                                std::to_string(path.size()));
  }
  std::memcpy(name.sun_path, path.c_str(), path.size());
  socket_ = open_socket(AF_UNIX, address_);
  if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0) refuse(address_);
  unix_path_ = path;
  if (listen(socket_.get(), kBacklog) != 0) refuse(address_);
}

}  // namespace poolpilot
