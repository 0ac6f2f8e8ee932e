#include "live/own_socket.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>

#include "live/hang_up.hpp"

namespace poolpilot {
namespace {

constexpr std::int64_t kLongestPollMs = std::numeric_limits<int>::max();

}  // namespace

OwnSocket wait_for(int socket, int call, std::int64_t timeout_ms, bool hang_up_at_once) {
  std::array<pollfd, 2> watched{pollfd{call, POLLIN, 0}, pollfd{socket, POLLIN | POLLRDHUP, 0}};
  int ready = 0;
  while (ready <= 0) {
    const std::int64_t part_ms = std::min(timeout_ms, kLongestPollMs);
    ready = poll(watched.data(), watched.size(), static_cast<int>(part_ms));
    if (ready == 0) timeout_ms -= part_ms;
    if (ready == 0 && timeout_ms <= 0) return OwnSocket::kSilent;
  }
  if (watched[0].revents != 0) return OwnSocket::kCalled;
  const auto events = static_cast<std::uint32_t>(watched[1].revents);
  return hang_up_at_once && has_hung_up(socket, events) ? OwnSocket::kGone : OwnSocket::kReady;
}

}  // namespace poolpilot
