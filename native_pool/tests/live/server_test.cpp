// The live pool as its clients see it. POOLPILOT_CHANGES sets the changes under load (200).
#include "live/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot {
namespace {

// How often the tuple changes under load.
int changes() { return number_from_environment("POOLPILOT_CHANGES", 200); }

class ServerTest : public testing::Test {
 protected:
  void start(const LivePoolSettings& settings = small_pool()) {
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }

  std::unique_ptr<LivePool> pool;
};

TEST_F(ServerTest, AnswersOverTcpAndUnixSockets) {
  const std::string path = socket_path();
  for (const std::string& address : {std::string("tcp:127.0.0.1:0"), "unix:" + path}) {
    LivePoolSettings settings = small_pool();
    settings.address = address;
    start(settings);
    const LiveClient client(pool->address());
    for (std::uint64_t id = 1; id <= 20; ++id) {
      const auto response = client.call(id, {cpu(10), reported(50), silent(50)});
      ASSERT_TRUE(response.has_value());
      EXPECT_EQ(response->request_id, id);
      EXPECT_EQ(response->status, Status::kOk);
    }
    EXPECT_EQ(counter("completed"), 20);
    pool->close();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServerTest, SnapshotHoldsTheRoundsOfARequest) {
  start();
  const LiveClient client(pool->address());
  client.call(1, {cpu(10), reported(2'000), cpu(10), reported(2'000)});
  client.call(2, {silent(3'000)});
  const PoolSnapshot snapshot = pool->snapshot();
  const auto count = [&](const char* name) {
    const auto& counts = snapshot.histograms.at(name).counts;
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  EXPECT_EQ(count("active_rounds"), 2);
  EXPECT_EQ(count("active_round_us"), 3 + 1);
  EXPECT_EQ(count("wait_round_us"), 2);
  EXPECT_EQ(count("latency_us/all"), 2);
  EXPECT_EQ(count("round_cpu_us"), 4);
  EXPECT_EQ(snapshot.counters.at("waits_sleep"), 2);
  EXPECT_GE(snapshot.histograms.at("wait_round_us").total, 4'000);
  EXPECT_GE(snapshot.histograms.at("active_round_us").total, 3'000);  // silent waits stay inside
  EXPECT_LT(snapshot.histograms.at("round_cpu_us").total,
            snapshot.histograms.at("active_round_us").total);
}

TEST_F(ServerTest, ASimulatedPoolCountsUnderTheSameNames) {
  const auto names = [](const auto& entries) {
    std::vector<std::string> all;
    for (const auto& [name, value] : entries) all.push_back(name);
    return all;
  };
  start();
  const PoolSnapshot live = pool->snapshot();
  const PoolSnapshot simulated =
      sim::SimulatedPool(sim::settings_of({sim::class_of("all", {sim::cpu(1)})}, 1)).snapshot();
  EXPECT_EQ(names(simulated.counters), names(live.counters));
  EXPECT_EQ(names(simulated.gauges), names(live.gauges));
  EXPECT_EQ(names(simulated.histograms), names(live.histograms));
}

TEST_F(ServerTest, OneGroupServesOthersWhileAReportedWaitLasts) {
  start();
  const LiveClient waiting(pool->address());
  const LiveClient quick(pool->address());
  waiting.send_request(1, {reported(5'000'000)});
  for (std::uint64_t id = 1; id <= 50; ++id) ASSERT_TRUE(quick.call(id, {cpu(1)}).has_value());
  EXPECT_EQ(counter("completed"), 50);
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  const LiveClient client(pool->address());
  for (std::uint64_t id = 1; id <= 200; ++id) client.send_request(id, {cpu(1)});
  for (std::uint64_t id = 1; id <= 200; ++id) {
    const auto response = client.read();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->request_id, id);
  }
}

TEST_F(ServerTest, HostileFramesCloseTheirConnectionOnlyAndAreCounted) {
  start();
  const LiveClient honest(pool->address());
  ASSERT_TRUE(honest.call(1, {cpu(1)}).has_value());
  std::vector<std::byte> frame = encode_request({{0, 1, 0}, {cpu(1)}});
  const auto broken = [&frame](std::size_t offset, int value) {
    std::vector<std::byte> copy = frame;
    copy[offset] = static_cast<std::byte>(value);
    return copy;
  };
  const std::vector<std::vector<std::byte>> hostile = {
      broken(0, 0),     // shorter than a header
      broken(3, 0x7f),  // two gigabytes
      broken(4, 9),     // version
      broken(5, 9),     // type
      broken(6, 200),   // class
      broken(24, 2),    // more steps than bytes
      broken(28, 99),   // unknown step
      std::vector<std::byte>(4096, std::byte{0xff})};
  for (const auto& bytes : hostile) {
    const LiveClient client(pool->address());
    client.send_bytes(bytes);
    EXPECT_FALSE(client.read().has_value());
  }
  EXPECT_TRUE(eventually([this] { return pool->snapshot().gauges.at("connections") == 1; }));
  EXPECT_EQ(counter("protocol_errors"), static_cast<double>(hostile.size()));
  EXPECT_TRUE(honest.call(2, {cpu(1)}).has_value());
}

TEST_F(ServerTest, TruncatedFramesWaitForTheirRestAndVanishWithTheirConnection) {
  start();
  const std::vector<std::byte> frame = encode_request({{0, 7, 0}, {cpu(1), cpu(1)}});
  const LiveClient slow(pool->address());
  for (const std::byte byte : frame) slow.send_bytes({byte});
  const auto response = slow.read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->request_id, 7U);
  LiveClient gone(pool->address());
  EXPECT_TRUE(eventually([this] { return pool->snapshot().gauges.at("connections") == 2; }));
  gone.send_bytes({frame.begin(), frame.begin() + 9});
  gone.close();
  EXPECT_TRUE(eventually([this] { return pool->snapshot().gauges.at("connections") == 1; }));
  EXPECT_EQ(counter("protocol_errors"), 0);
}

TEST_F(ServerTest, TransactionsHoldLatchesAcrossRequestsUntilCommit) {
  LivePoolSettings settings = small_pool();
  settings.executor.latch_timeout_s = 0.05;
  start(settings);
  const LiveClient first(pool->address());
  const LiveClient second(pool->address());
  first.call(1, {begin(), acquire(3)});
  EXPECT_EQ(second.call(1, {acquire(3)}).value().status, Status::kLatchTimeout);
  first.call(2, {commit()});
  EXPECT_EQ(second.call(2, {acquire(3), release(3)}).value().status, Status::kOk);
  EXPECT_EQ(counter("failed"), 1);
}

TEST_F(ServerTest, ALostConnectionGivesItsLatchesBack) {
  start();
  LiveClient first(pool->address());
  const LiveClient second(pool->address());
  first.call(1, {begin(), acquire(3)});
  first.close();
  EXPECT_EQ(second.call(1, {acquire(3)}).value().status, Status::kOk);
}

TEST_F(ServerTest, TuplesOutsideTheRangesAreRefusedWithTheRange) {
  start();
  const PoolTuple before = pool->tuple();
  for (const PoolTuple& bad :
       {PoolTuple{0}, PoolTuple{17}, PoolTuple{1, 0}, PoolTuple{1, 1001}, PoolTuple{1, 3, 0},
        PoolTuple{1, 3, 10, true, 0.0}, PoolTuple{1, 3, 10, true, std::nan("")}}) {
    EXPECT_THROW(pool->set_tuple(bad), std::invalid_argument);
  }
  try {
    pool->set_tuple(PoolTuple{17});
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "pool_size is 17, but must be in 1..16");
  }
  EXPECT_EQ(pool->tuple().pool_size, before.pool_size);
}

TEST_F(ServerTest, ChangesOfTheTupleUnderLoadLoseNothingAndReplay) {
  start();
  constexpr int kClients = 12;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> answered{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      const LiveClient client(pool->address());
      for (std::uint64_t id = 1; !stop; ++id) {
        const auto response = client.call(
            id, {cpu(5), reported(100), acquire(1), silent(20), release(1), silent(50)});
        ASSERT_TRUE(response.has_value());
        ASSERT_EQ(response->request_id, id);
        ++answered;
      }
    });
  }
  std::mt19937 random(1);
  for (int i = 0; i < changes(); ++i) {
    PoolTuple tuple;
    tuple.pool_size = 1 + static_cast<int>(random() % 16);
    tuple.oversubscribe = 1 + static_cast<int>(random() % 4);
    tuple.timer_interval_ms = random() % 2 == 0 ? 1 : 500;
    tuple.create_thread_on_wait = random() % 4 != 0;
    tuple.idle_timeout_s = random() % 2 == 0 ? 0.01 : 60.0;
    pool->set_tuple(tuple);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pool->set_tuple({4, 3, 1, true, 60.0});
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(counter("completed"), static_cast<double>(answered.load()));
  pool->close();
  std::size_t entries = 0;
  for (const EventLog& log : pool->event_logs()) {
    entries += log.entries.size();
    EXPECT_EQ(replay(log), log.entries.size());
  }
  EXPECT_GT(entries, 1'000U);
}

TEST_F(ServerTest, RefusesConnectionsOverItsLimit) {
  LivePoolSettings settings = small_pool();
  settings.max_connections = 2;
  start(settings);
  const LiveClient first(pool->address());
  const LiveClient second(pool->address());
  ASSERT_TRUE(first.call(1, {}).has_value());
  ASSERT_TRUE(second.call(1, {}).has_value());
  const LiveClient third(pool->address());
  EXPECT_FALSE(third.call(1, {}).has_value());
  EXPECT_EQ(counter("refused_connections"), 1);
}

TEST_F(ServerTest, CloseLeavesNoThreadAndNoDescriptor) {
  const LeftOpen left_open;
  start();
  {
    std::vector<std::unique_ptr<LiveClient>> clients;
    for (int i = 0; i < 40; ++i) clients.push_back(std::make_unique<LiveClient>(pool->address()));
    for (const auto& client : clients) client->send_request(1, {reported(5'000'000)});
    pool->set_tuple({16, 3, 10, true, 60.0});
    EXPECT_TRUE(eventually([this] { return counter("waits_sleep") == 40; }));
    pool->close();
    pool->close();
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST_F(ServerTest, WithoutInstrumentsItStillCountsCompletions) {
  LivePoolSettings settings = small_pool();
  settings.executor.instrument = false;
  start(settings);
  const LiveClient client(pool->address());
  client.call(1, {cpu(1), reported(10)});
  const PoolSnapshot snapshot = pool->snapshot();
  EXPECT_EQ(snapshot.counters.at("completed"), 1);
  EXPECT_FALSE(snapshot.histograms.contains("active_round_us"));
}

TEST(ServerStart, SaysWhatItCannotListenOn) {
  LivePoolSettings settings;
  settings.address = "tcp:192.0.2.1:80";
  EXPECT_THROW(LivePool(settings).start(), std::invalid_argument);
  LivePool first{LivePoolSettings{}};
  first.start();
  settings.address = first.address();
  LivePool second(settings);
  EXPECT_THROW(second.start(), std::system_error);
  EXPECT_THROW(second.address(), std::logic_error);
}

}  // namespace
}  // namespace poolpilot
