// A thread that waits for the client of one connection alone, in poll(2).
#pragma once

#include <cstdint>

namespace poolpilot {

enum class OwnSocket : std::uint8_t {
  kReady,   // there is something to read
  kGone,    // the client has hung up
  kSilent,  // it has said nothing for the whole time
  kCalled,  // the thread is wanted elsewhere, whatever the client does
};

// Returns once something has happened at `socket`, `call` is readable, or `timeout_ms` have passed.
// A client that is gone is one that is ready unless `hang_up_at_once`.
OwnSocket wait_for(int socket, int call, std::int64_t timeout_ms, bool hang_up_at_once);

}  // namespace poolpilot
