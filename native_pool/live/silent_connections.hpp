// The connections of a group or of a hybrid pool; those that are silent for too long are shut.
//
// Not thread-safe: a mutex of theirs guards it. Only armed connections are looked at, since nobody
// owns them; the clock is that of the ticks, which costs nothing and is at most an interval behind.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "live/connection.hpp"

namespace poolpilot {

class SilentConnections {
 public:
  void add(Connection& connection);
  void remove(Connection& connection);

  // From now on nobody owns the connection; it may be silent for so long from the last tick on.
  void arm(Connection& connection, std::int64_t silence_us);
  static void disarm(Connection& connection) { connection.armed = false; }

  // Shuts the sockets of those that are over their time, for a turn to close them.
  void tick(std::int64_t now_us);
  std::int64_t tick_us() const { return tick_us_; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::vector<Connection*> all_;  // in no order
  std::int64_t tick_us_ = 0;
  std::int64_t next_deadline_us_ = kNever;  // no armed connection has an earlier one
};

}  // namespace poolpilot
