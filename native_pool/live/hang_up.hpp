// What poll(2) and an epoll have said already of a client that is gone.
#pragma once

#include <cstdint>

namespace poolpilot {

// Whether `events`, of poll(2) or an epoll, mean that nobody could be answered at the socket. A
// hang-up or an error does. A client that only sends no more may wait for its answers, so it is
// gone once nothing is left to read; that is asked of the system.
bool has_hung_up(int socket, std::uint32_t events);

}  // namespace poolpilot
