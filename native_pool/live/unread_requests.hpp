// Requests that came in whole before their connection ended, and that nobody runs any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace poolpilot {

// Takes them out of `buffer`, of which `buffered` bytes are in use, and of the socket, and counts
// them. Up to the first that breaks the rules of the protocol: what follows that one is none.
std::int64_t take_unread_requests(int socket, std::span<std::byte> buffer, std::size_t buffered);

}  // namespace poolpilot
