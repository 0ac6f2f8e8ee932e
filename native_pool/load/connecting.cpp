#include "load/connecting.hpp"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "system/clock.hpp"

namespace poolpilot::load {
namespace {

constexpr std::size_t kSideBySide = 128;
constexpr int kBeginAnewMs = static_cast<int>(kBeginAnewNs / 1'000'000);

std::string remedy_for(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n).";
    case EADDRNOTAVAIL:
      return "no local port is free: widen net.ipv4.ip_local_port_range or use a Unix socket.";
    default:
      return "check that the pool server listens there.";
  }
}

[[noreturn]] void throw_connect_error(const Address& server, int error) {
  const std::string cause =
      error == ETIMEDOUT ? "no answer in time" : std::generic_category().message(error);
  throw std::runtime_error("Cannot connect to " + server.text + ": " + cause + "; " +
                           remedy_for(error));
}

void set_option(int socket, int level, int option) {
  const int on = 1;
  setsockopt(socket, level, option, &on, sizeof(on));
}

// The port is chosen by connect(), which knows the other end, so that one port serves many servers.
bool bind_to(int socket, in_addr from) {
  set_option(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr = from;
  return bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
}

class SideBySide {
 public:
  SideBySide(const Address& server, const std::function<std::optional<in_addr>(std::size_t)>& from,
             std::size_t count, double timeout_s)
      : server_(server),
        from_(from),
        timeout_ns_(static_cast<std::int64_t>(timeout_s * 1e9)),
        last_made_ns_(now_ns()),
        made_(count) {}

  std::vector<Descriptor> run() {
    std::size_t next = 0;
    while (next < made_.size() || !under_way_.empty()) {
      while (next < made_.size() && under_way_.size() < kSideBySide) begin(next++);
      if (!under_way_.empty()) wait();
    }
    return std::move(made_);
  }

 private:
  struct Attempt {
    std::size_t number;
    std::int64_t begun_ns;
    Descriptor socket;  // none while a full queue refuses it
  };

  void begin(std::size_t number) {
    Attempt attempt{number, now_ns(), Descriptor()};
    if (!try_to_connect(attempt)) under_way_.push_back(std::move(attempt));
  }

  // Whether the connection is there.
  bool try_to_connect(Attempt& attempt) {
    BegunConnect begun = begin_connect(server_, from_(attempt.number));
    if (begun.is_open()) return keep(attempt, std::move(begun.socket));
    if (!begun.may_follow()) throw_connect_error(server_, begun.error);
    attempt.socket = begun.error == EINPROGRESS ? std::move(begun.socket) : Descriptor();
    return false;
  }

  bool keep(const Attempt& attempt, Descriptor socket) {
    made_[attempt.number] = std::move(socket);
    last_made_ns_ = now_ns();
    return true;
  }

  void wait() {
    polled_.clear();
    // A descriptor of -1 is passed over.
    for (const Attempt& one : under_way_) polled_.push_back({one.socket.get(), POLLOUT, 0});
    poll(polled_.data(), polled_.size(), kBeginAnewMs);
    for (std::size_t i = under_way_.size(); i-- > 0;) {
      if (!is_made(under_way_[i], polled_[i].revents != 0)) continue;
      std::swap(under_way_[i], under_way_.back());
      under_way_.pop_back();
    }
  }

  bool is_made(Attempt& attempt, bool decided) {
    if (decided) {
      const int error = outcome_of_connect(attempt.socket.get());
      if (error != 0) throw_connect_error(server_, error);
      return keep(attempt, std::move(attempt.socket));
    }
    const std::int64_t time_ns = now_ns();
    if (time_ns - last_made_ns_ >= timeout_ns_) throw_connect_error(server_, ETIMEDOUT);
    if (time_ns - attempt.begun_ns < kBeginAnewNs) return false;
    attempt.begun_ns = time_ns;
    return try_to_connect(attempt);
  }

  const Address& server_;
  const std::function<std::optional<in_addr>(std::size_t)>& from_;
  const std::int64_t timeout_ns_;
  std::int64_t last_made_ns_;
  std::vector<Descriptor> made_;
  std::vector<Attempt> under_way_;
  std::vector<pollfd> polled_;
};

}  // namespace

bool BegunConnect::may_follow() const { return error == EINPROGRESS || error == EAGAIN; }

BegunConnect begin_connect(const Address& server, std::optional<in_addr> from) {
  const bool tcp = server.storage.ss_family == AF_INET;
  Descriptor socket(
      ::socket(server.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return {Descriptor(), errno};
  if (tcp) set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY);
  if (tcp && from && !bind_to(socket.get(), *from)) return {Descriptor(), errno};
  const auto* name = reinterpret_cast<const sockaddr*>(&server.storage);
  const int error = connect(socket.get(), name, server.length) == 0 ? 0 : errno;
  return {std::move(socket), error};
}

int outcome_of_connect(int socket) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void reset_on_close(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

std::vector<Descriptor> connect_all(const Address& server, std::size_t count,
                                    const std::function<std::optional<in_addr>(std::size_t)>& from,
                                    double timeout_s) {
  return SideBySide(server, from, count, timeout_s).run();
}

}  // namespace poolpilot::load
