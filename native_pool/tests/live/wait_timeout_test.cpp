// Clients of a live pool that are silent for longer than wait_timeout_s.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"

namespace poolpilot {
namespace {

LivePoolSettings impatient_pool(double wait_timeout_s) {
  LivePoolSettings settings = small_pool();
  settings.wait_timeout_s = wait_timeout_s;
  settings.executor.latch_timeout_s = 60.0;
  return settings;
}

double counter(const LivePool& pool, const std::string& name) {
  return pool.snapshot().counters.at(name);
}

double connections(const LivePool& pool) { return pool.snapshot().gauges.at("connections"); }

TEST(WaitTimeout, ClosesASilentClientOverTcpAndUnixSockets) {
  const LeftOpen left_open;
  for (const std::string& address : {std::string("tcp:127.0.0.1:0"), "unix:" + socket_path()}) {
    LivePoolSettings settings = impatient_pool(0.05);
    settings.address = address;
    LivePool pool(settings);
    pool.start();
    {
      const LiveClient never_spoke(pool.address());
      const LiveClient spoke_once(pool.address());
      ASSERT_TRUE(spoke_once.call(1, {cpu(1)}).has_value());
      EXPECT_FALSE(never_spoke.read().has_value());
      EXPECT_FALSE(spoke_once.read().has_value());
      ASSERT_TRUE(eventually([&pool] { return connections(pool) == 0; }));
    }
    EXPECT_EQ(counter(pool, "timed_out_connections"), 2);
    EXPECT_EQ(counter(pool, "protocol_errors"), 0);
    const LiveClient next(pool.address());
    EXPECT_TRUE(next.call(1, {cpu(1)}).has_value());
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST(WaitTimeout, LeavesThoseAloneThatSpeakOrWaitForTheirAnswer) {
  LivePool pool(impatient_pool(1.0));
  pool.start();
  const LiveClient waiting(pool.address());
  waiting.send_request(1, {reported(3'000'000)});
  const LiveClient talking(pool.address());
  std::vector<std::unique_ptr<LiveClient>> silent_ones;
  // One after the other, so that the two others are there for longer than one may be silent.
  for (int i = 1; i <= 2; ++i) {
    silent_ones.push_back(std::make_unique<LiveClient>(pool.address()));
    while (counter(pool, "timed_out_connections") < i) {
      ASSERT_TRUE(talking.call(1, {silent(1'000)}).has_value());
    }
  }
  EXPECT_TRUE(waiting.read().has_value());
  EXPECT_TRUE(talking.call(2, {}).has_value());
  EXPECT_EQ(counter(pool, "timed_out_connections"), 2);
}

TEST(WaitTimeout, GivesBackTheLatchesOfASilentTransaction) {
  LivePool pool(impatient_pool(0.1));
  pool.start();
  const LiveClient sleeping(pool.address());
  ASSERT_EQ(sleeping.call(1, {begin(), acquire(3)}).value().status, Status::kOk);
  const LiveClient other(pool.address());
  const auto answer = other.call(1, {acquire(3)});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, Status::kOk);
  EXPECT_EQ(counter(pool, "timed_out_connections"), 1);
}

TEST(WaitTimeout, IsThatOfMariaDbUnlessToldOtherwiseAndHasARange) {
  EXPECT_EQ(LivePoolSettings().wait_timeout_s, 28'800.0);
  for (const double bad : {0.0, -1.0, 31'536'001.0}) {
    EXPECT_THROW(LivePool(impatient_pool(bad)), std::invalid_argument);
  }
  try {
    const LivePool pool(impatient_pool(0.0));
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()), "wait_timeout_s is 0, but must be in 0.01..31536000");
  }
}

// Sends and pauses about as long as the pool is willing to wait, until `over`; a transaction stays
// open over every other pause.
void talk_now_and_then(const std::string& address, unsigned seed, const std::atomic<bool>& over) {
  std::mt19937 random(seed);
  std::unique_ptr<LiveClient> client;
  for (std::uint64_t id = 1; !over; ++id) {
    if (!client) client = std::make_unique<LiveClient>(address);
    const auto answer =
        client->call(id, id % 2 == 0 ? std::vector{commit(), reported(100)}
                                     : std::vector{begin(), acquire(1), silent(50)});
    if (answer) {
      ASSERT_EQ(answer->request_id, id);
      ASSERT_EQ(answer->status, Status::kOk);
    } else {
      client.reset();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
  }
}

TEST(WaitTimeout, MeetsRequestsAndMovesInAnyOrder) {
  const LeftOpen left_open;
  LivePoolSettings settings = impatient_pool(0.01);
  settings.tuple.timer_interval_ms = 1;
  LivePool pool(settings);
  pool.start();
  std::atomic<bool> over{false};
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < 8; ++i) {
    clients.emplace_back([&pool, i, &over] { talk_now_and_then(pool.address(), i, over); });
  }
  std::mt19937 random(99);
  for (int i = 0; i < 100 || counter(pool, "timed_out_connections") < 20; ++i) {
    PoolTuple tuple = settings.tuple;
    tuple.pool_size = 1 + static_cast<int>(random() % 4);
    tuple.timer_interval_ms = 1 + static_cast<int>(random() % 3);
    pool.set_tuple(tuple);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(eventually([&pool] { return connections(pool) == 0; }));
  EXPECT_EQ(counter(pool, "failed"), 0);
  pool.close();
  for (const EventLog& log : pool.event_logs()) EXPECT_EQ(replay(log), log.entries.size());
  EXPECT_TRUE(left_open.nothing());
}

}  // namespace
}  // namespace poolpilot
