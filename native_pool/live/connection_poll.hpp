// The epoll of a group, or of a hybrid pool: which of its connections have something to read.
//
// EPOLLONESHOT keeps it silent about a connection from when it is found ready until it is watched
// again.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <span>

#include "live/connection.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

class ConnectionPoll {
 public:
  using Events = std::array<epoll_event, 1024>;

  // Throws std::system_error when the system refuses; nothing is open then.
  void open();
  bool is_open() const { return epoll_.valid(); }

  // Looks out for the connection's next request; a fresh one is ready at once, for its first turn.
  // False when the system refuses.
  [[nodiscard]] bool watch(Connection& connection) const;
  // Does nothing when it does not know the connection.
  void forget(Connection& connection) const;

  // What is ready: the data of an event are its connection, or nullptr for the interruption.
  std::span<const epoll_event> wait(std::span<epoll_event> events, int timeout_ms) const;
  // Ends every wait at once from now on. Does nothing before open().
  void interrupt() const;

 private:
  Descriptor epoll_;
  Descriptor stop_event_;
};

}  // namespace poolpilot
