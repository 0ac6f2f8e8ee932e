// recv() stands here under its own name: the program's definition comes before those of the
// libraries, a sanitizer's among them, counts and passes on.
#include "tests/load/received.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>

#include "system/descriptor.hpp"

namespace {

// Relaxed: an order that the tests brought in would hide a race from ThreadSanitizer.
constinit std::atomic<long> calls{0};
thread_local bool spared = false;

}  // namespace

extern "C" ssize_t recv(int socket, void* buffer, size_t length, int flags) {
  static const auto real = reinterpret_cast<decltype(&recv)>(dlsym(RTLD_NEXT, "recv"));
  if (!spared) calls.fetch_add(1, std::memory_order_relaxed);
  return real(socket, buffer, length, flags);
}

namespace poolpilot {

long recv_calls() { return calls.load(std::memory_order_relaxed); }

void spare_recv() { spared = true; }

TEST(Received, CallsAreCountedButForThoseOfSparedThreads) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const Descriptor one(ends[0]);
  const Descriptor other(ends[1]);
  const auto look = [&one] {
    char byte = 0;
    EXPECT_EQ(recv(one.get(), &byte, 1, MSG_DONTWAIT), -1);
  };
  const long before = recv_calls();
  std::thread(look).join();
  EXPECT_EQ(recv_calls(), before + 1);
  std::thread([&look] {
    spare_recv();
    look();
  }).join();
  EXPECT_EQ(recv_calls(), before + 1);
}

}  // namespace poolpilot
