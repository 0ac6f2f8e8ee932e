#include "live/connection_poll.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

namespace poolpilot {
namespace {

constexpr std::uint32_t kArmed = EPOLLIN | EPOLLRDHUP | EPOLLET | EPOLLONESHOT;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

void ConnectionPoll::open() {
  Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) throw_errno("cannot create the epoll of a pool's connections");
  Descriptor stop_event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_event.valid()) throw_errno("cannot create the stop event of an epoll");
  epoll_event event{};
  event.events = EPOLLIN;  // level-triggered: wakes every listener there will be
  event.data.ptr = nullptr;
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, stop_event.get(), &event) != 0) {
    throw_errno("cannot watch the stop event of an epoll");
  }
  epoll_ = std::move(epoll);
  stop_event_ = std::move(stop_event);
}

bool ConnectionPoll::watch(Connection& connection) const {
  const int operation = connection.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  epoll_event event{};
  event.events = connection.fresh ? kArmed | EPOLLOUT : kArmed;
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_.get(), operation, connection.fd, &event) != 0) return false;
  connection.watched = true;
  return true;
}

void ConnectionPoll::forget(Connection& connection) const {
  if (connection.watched) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.fd, nullptr);
  connection.watched = false;
}

std::span<const epoll_event> ConnectionPoll::wait(std::span<epoll_event> events,
                                                  int timeout_ms) const {
  const int ready =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  return events.first(ready > 0 ? static_cast<std::size_t>(ready) : 0);
}

void ConnectionPoll::interrupt() const {
  if (stop_event_.valid()) eventfd_write(stop_event_.get(), 1);
}

}  // namespace poolpilot
