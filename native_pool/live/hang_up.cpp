#include "live/hang_up.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

namespace poolpilot {

static_assert(EPOLLHUP == POLLHUP && EPOLLERR == POLLERR && EPOLLRDHUP == POLLRDHUP);

bool has_hung_up(int socket, std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return true;
  if ((events & EPOLLRDHUP) == 0) return false;
  int unread = 0;
  return ioctl(socket, FIONREAD, &unread) == 0 && unread == 0;
}

}  // namespace poolpilot
