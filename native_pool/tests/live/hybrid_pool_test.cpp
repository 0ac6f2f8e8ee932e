// A pool of the hybrid handler under a host of the test's own, whose thread the test itself is.
#include "live/handlers/hybrid_pool.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "system/clock.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {
namespace {

class HybridPoolTest : public testing::Test, protected HybridHost {
 protected:
  void SetUp() override { pool.open(); }
  void TearDown() override { pool.stop(); }

  // Connections that are ready for their first turn, in a pool whose turns are short.
  void admit(int number) {
    for (int i = 0; i < number; ++i) {
      std::array<int, 2> ends{};
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
      for (const int end : ends) sockets.emplace_back(end);
      ASSERT_TRUE(pool.admit(connections.emplace_back(ends[0], connections.size())));
    }
    pool.add_turn({1'000, false});
    pool.tick(now_us());
    ASSERT_GT(pool.state().taken_at_once, number);
  }

  Connection* take() {
    std::uint32_t events = 0;
    return pool.take(events);
  }

  static std::int64_t now_us() { return now_ns() / 1'000; }

  bool start_thread(HybridPool&) override { return true; }
  bool pools_full() const override { return false; }
  HybridPool& pool_of(const Connection&) const override { return const_cast<HybridPool&>(pool); }
  double idle_timeout_s() const override { return 60.0; }
  std::int64_t silence_us() const override { return 3'600'000'000; }

  HybridHost& host = *this;
  HybridPool pool{host, {.max_threads = 8, .min_waiting = 1, .share_below_us = 1'000'000}};
  std::vector<Descriptor> sockets;
  std::deque<Connection> connections;
};

// A turn under way may last for ever: who was taken along with it must not wait for a second tick.
TEST_F(HybridPoolTest, WhoWasTakenAlongGoesBackAtTheFirstTickAfterALongTurn) {
  admit(2);
  ASSERT_NE(take(), nullptr);
  EXPECT_EQ(pool.polls(), 1);
  pool.tick(now_us() + 1'000'000);
  ASSERT_NE(take(), nullptr);
  EXPECT_EQ(pool.polls(), 2);  // the epoll has found it again
}

TEST_F(HybridPoolTest, WhoWasTakenAlongStaysWhileOthersAreTaken) {
  admit(3);
  const std::int64_t before_us = now_us();
  ASSERT_NE(take(), nullptr);
  for (int i = 1; i < 3; ++i) {
    pool.tick(before_us + i);
    ASSERT_NE(take(), nullptr);
  }
  EXPECT_EQ(pool.polls(), 1);
}

}  // namespace
}  // namespace poolpilot
