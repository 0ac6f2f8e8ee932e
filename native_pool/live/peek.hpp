// The class of a connection's next request, without reading it.
#pragma once

#include "live/connection.hpp"

namespace poolpilot {

// From the header that has come in, whole or in part before; kAnyClass where it is not complete yet
// or not valid. Takes nothing off the socket.
int peek_class(const Connection& connection);

}  // namespace poolpilot
