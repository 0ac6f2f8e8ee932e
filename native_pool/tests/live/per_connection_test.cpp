// The handler that gives every client a thread: how many there are, and what becomes of them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

class PerConnectionTest : public testing::Test {
 protected:
  void start(int thread_cache_size = 256) {
    LivePoolSettings settings = small_pool();
    settings.handling.handler = HandlerKind::kPerConnection;
    settings.handling.thread_cache_size = thread_cache_size;
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }
  double gauge(const std::string& name) { return pool->snapshot().gauges.at(name); }

  // One client after the other; the last has left when it returns.
  void serve_in_turn(int clients) {
    for (int i = 0; i < clients; ++i) {
      ASSERT_TRUE(LiveClient(pool->address()).call(1, {}).has_value());
      ASSERT_TRUE(eventually([this] { return gauge("connections") == 0; }));
    }
  }

  std::unique_ptr<LivePool> pool;
};

TEST_F(PerConnectionTest, AllClientsAreServedAtOnceWhateverTheTuple) {
  start();
  std::vector<LiveClient> all;
  for (int i = 0; i < 12; ++i) all.emplace_back(pool->address());
  for (const LiveClient& one : all) one.send_request(1, {silent(2'000'000)});
  EXPECT_TRUE(eventually([this] { return gauge("active_threads") == 12; }));
  EXPECT_EQ(gauge("threads"), 12);
  pool->set_tuple({3, 1, 1, true, 0.01});
  EXPECT_EQ(pool->tuple().pool_size, 3);
  for (const LiveClient& one : all) EXPECT_TRUE(one.read().has_value());
  EXPECT_EQ(gauge("threads"), 12);
  EXPECT_EQ(counter("thread_creations"), 12);
}

TEST_F(PerConnectionTest, AThreadOfTheCacheServesTheNextClient) {
  start();
  serve_in_turn(50);
  EXPECT_EQ(counter("thread_creations") + counter("wakes"), 50);
  EXPECT_GT(counter("wakes"), 0);
  EXPECT_EQ(gauge("threads"), counter("thread_creations"));
}

TEST_F(PerConnectionTest, WithoutACacheAThreadEndsWithItsClient) {
  start(0);
  serve_in_turn(20);
  EXPECT_EQ(counter("thread_creations"), 20);
  EXPECT_EQ(counter("wakes"), 0);
  EXPECT_TRUE(eventually([this] { return gauge("threads") == 0; }));
}

TEST_F(PerConnectionTest, TheCacheHoldsSoManyAndNoMore) {
  start(2);
  {
    std::vector<LiveClient> all;
    for (int i = 0; i < 6; ++i) all.emplace_back(pool->address());
    for (const LiveClient& one : all) ASSERT_TRUE(one.call(1, {}).has_value());
  }
  EXPECT_TRUE(eventually([this] { return gauge("threads") == 2; }));
}

TEST_F(PerConnectionTest, AClientForWhichThereIsNoThreadIsClosedAndCounted) {
  start();
  const LiveClient served(pool->address());
  ASSERT_TRUE(served.call(1, {}).has_value());
  {
    const Refusal refusal(Refusable::kThread, 1);
    const LiveClient refused(pool->address());
    EXPECT_FALSE(refused.read().has_value());
    EXPECT_EQ(refusal.refused(), 1);
  }
  EXPECT_EQ(counter("unserved_connections"), 1);
  EXPECT_TRUE(eventually([this] { return gauge("connections") == 1; }));
  EXPECT_EQ(gauge("threads"), 1);
  EXPECT_TRUE(LiveClient(pool->address()).call(1, {}).has_value());
  EXPECT_TRUE(served.call(2, {}).has_value());
}

}  // namespace
}  // namespace poolpilot
