// Waits for many sockets, one deadline and a wake-up from another thread.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "system/descriptor.hpp"

namespace poolpilot::load {

inline constexpr std::int64_t kNever = INT64_MAX;

class Poller {
 public:
  Poller();

  // Reports `token` from wait() while the descriptor is readable; closing the descriptor ends it.
  void watch(int descriptor, std::size_t token);

  // The same, and once more when a connect that is under way is decided.
  void watch_connecting(int descriptor, std::size_t token);

  // Blocks until a socket is readable, the monotonic clock passes `deadline_ns` or wake() is
  // called. Returns the tokens of the readable ones, valid until the next call.
  std::span<const std::size_t> wait(std::int64_t deadline_ns);

  void wake();  // from any thread

 private:
  void add(int descriptor, std::uint64_t token, std::uint32_t events = EPOLLIN);
  void arm(std::int64_t deadline_ns);

  Descriptor epoll_;
  Descriptor timer_;
  Descriptor wake_;
  std::int64_t armed_ns_ = kNever;
  std::array<epoll_event, 256> events_;
  std::array<std::size_t, 256> tokens_;
};

}  // namespace poolpilot::load
