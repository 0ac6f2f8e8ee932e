#include "live/silent_connections.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace poolpilot {

void SilentConnections::add(Connection& connection) {
  connection.place = all_.size();
  all_.push_back(&connection);
}

void SilentConnections::remove(Connection& connection) {
  all_.back()->place = connection.place;
  all_[connection.place] = all_.back();
  all_.pop_back();
}

void SilentConnections::arm(Connection& connection, std::int64_t silence_us) {
  connection.armed = true;
  connection.idle_until_us = tick_us_ + silence_us;
  next_deadline_us_ = std::min(next_deadline_us_, connection.idle_until_us);
}

void SilentConnections::tick(std::int64_t now_us) {
  tick_us_ = now_us;
  if (next_deadline_us_ > now_us) return;
  next_deadline_us_ = kNever;
  for (Connection* connection : all_) {
    if (!connection->armed || connection->timed_out) continue;
    if (connection->idle_until_us < now_us) {
      connection->timed_out = true;
      shutdown(connection->fd, SHUT_RD);
    } else {
      next_deadline_us_ = std::min(next_deadline_us_, connection->idle_until_us);
    }
  }
}

}  // namespace poolpilot
