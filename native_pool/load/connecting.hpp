// Making connections: one that is begun and waited for elsewhere, or many side by side.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "load/sockets.hpp"
#include "system/descriptor.hpp"

namespace poolpilot::load {

// After so long without a connection a connect is begun anew.
inline constexpr std::int64_t kBeginAnewNs = 5'000'000;

// A non-blocking socket on its way to the server. The error is that of connect(2): 0 where it is
// there already, EINPROGRESS where it will be writable once it is, EAGAIN where a Unix socket's
// queue is full, and the connect must be begun anew.
struct BegunConnect {
  Descriptor socket;
  int error = 0;

  bool is_open() const { return error == 0; }
  bool may_follow() const;
};

// Client address of a TCP connection; none: the system chooses.
BegunConnect begin_connect(const Address& server, std::optional<in_addr> from);

// What became of a connect that was in progress: 0 or an error.
int outcome_of_connect(int socket);

// Has the system forget a TCP connection as soon as this end closes it: no port stays in TIME_WAIT.
void reset_on_close(int socket);

// `count` connected, non-blocking sockets in the order of their numbers, `from` of each number.
// Throws std::runtime_error with the cause and a remedy as soon as one is refused, or when none has
// been made for `timeout_s`.
//
// A full accept queue drops the SYN of a TCP connect, which the kernel sends again after a second,
// and refuses that of a Unix socket. So the connects are made side by side, and one that is not
// there after some milliseconds is begun anew.
std::vector<Descriptor> connect_all(const Address& server, std::size_t count,
                                    const std::function<std::optional<in_addr>(std::size_t)>& from,
                                    double timeout_s);

}  // namespace poolpilot::load
