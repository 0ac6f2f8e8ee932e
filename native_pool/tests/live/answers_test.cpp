// What a client of the live pool is answered, and what is recorded of it, off the usual path.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"

namespace poolpilot {
namespace {

std::int64_t count(const HistogramCounts& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::int64_t{0});
}

// ---- a stop ----

// What a client is answered whose only program is under way when the pool closes.
std::optional<Response> answered_at_a_stop(const std::vector<Step>& program, bool latch_held) {
  LivePoolSettings settings = small_pool();
  settings.executor.latch_timeout_s = 60.0;
  LivePool pool(settings);
  pool.start();
  const LiveClient holder(pool.address());
  if (latch_held) holder.call(1, {begin(), acquire(1)});
  const LiveClient client(pool.address());
  client.send_request(2, program);
  EXPECT_TRUE(eventually([&] { return pool.snapshot().counters.at("waits_disk_io") == 1; }));
  pool.close();
  return client.read();
}

TEST(Answers, AProgramThatAStopCutsShortIsNotOk) {
  const Step mark{Op::kWait, static_cast<std::uint8_t>(WaitKind::kDiskIo), kReported, 1};
  for (const Step& step : {silent(10'000'000), reported(10'000'000), cpu(10'000'000), acquire(1)}) {
    const auto answer = answered_at_a_stop({mark, step}, step.op == Op::kAcquire);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->request_id, 2U);
    EXPECT_EQ(answer->status, Status::kStopping);
  }
}

TEST(Answers, AProgramThatAStopCutsShortIsNotGoneOnWith) {
  const Step mark{Op::kWait, static_cast<std::uint8_t>(WaitKind::kDiskIo), kReported, 1};
  const auto answer = answered_at_a_stop({mark, silent(10'000'000), acquire(1)}, true);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, Status::kStopping);
}

// ---- several requests at once ----

class Pipelined : public testing::Test {
 protected:
  static constexpr int kFrames = 10;
  static constexpr std::uint32_t kFrameUs = 20'000;

  // Sends all frames in one packet, so that they are one turn, and returns what was recorded.
  static PoolSnapshot send_together() {
    LivePool pool(small_pool());
    pool.start();
    const LiveClient client(pool.address());
    client.call(0, {});
    std::vector<std::byte> bytes;
    for (std::uint64_t id = 1; id <= kFrames; ++id) {
      const auto frame = encode_request({{0, id, 0}, {silent(kFrameUs)}});
      bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    client.send_bytes(bytes);
    for (int i = 0; i < kFrames; ++i) EXPECT_TRUE(client.read().has_value());
    return pool.snapshot();
  }
};

TEST_F(Pipelined, OnlyTheFirstRequestOfATurnWaitedInTheQueue) {
  const HistogramCounts waits = send_together().histograms.at("queue_wait_us");
  EXPECT_EQ(count(waits), 2);
  EXPECT_LT(waits.total, kFrames * kFrameUs);  // one frame's worth each would be 45
}

TEST_F(Pipelined, OnlyBeforeTheFirstRequestOfATurnTheClientThought) {
  EXPECT_EQ(count(send_together().histograms.at("think_us")), 1);
}

TEST_F(Pipelined, TheLatencyOfEveryRequestCountsFromItsArrival) {
  const HistogramCounts latency = send_together().histograms.at("latency_us/all");
  EXPECT_EQ(count(latency), kFrames + 1);
  EXPECT_GE(latency.total, kFrameUs * kFrames * (kFrames + 1) / 2);
}

// ---- clients that do not read ----

class Unread : public testing::TestWithParam<bool> {
 protected:
  Unread() : pool(settings()) { pool.start(); }

  static LivePoolSettings settings() {
    LivePoolSettings made = small_pool();
    if (GetParam()) made.address = "unix:" + socket_path();
    return made;
  }

  double counter(const std::string& name) { return pool.snapshot().counters.at(name); }

  static std::vector<std::byte> requests(int number) {
    std::vector<std::byte> bytes;
    for (int i = 0; i < number; ++i) {
      const auto frame = encode_request({{0, 1, 0}, {}});
      bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    return bytes;
  }

  LivePool pool;
};

INSTANTIATE_TEST_SUITE_P(Answers, Unread, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "OnAUnixSocket" : "OverTcp"; });

TEST_P(Unread, HundredsOfAnswersAreKeptForAClient) {
  const LiveClient client(pool.address());
  client.send_bytes(requests(500));
  EXPECT_TRUE(
      eventually([this] { return counter("completed") >= 500 || counter("slow_readers") > 0; }));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(client.read().has_value()) << i;
  EXPECT_EQ(counter("slow_readers"), 0);
}

TEST_P(Unread, AClientThatNeverReadsIsDropped) {
  const LiveClient client(pool.address());
  const std::vector<std::byte> bytes = requests(1'000);
  for (int i = 0; i < 10'000 && counter("slow_readers") == 0; ++i) client.send_bytes(bytes);
  EXPECT_EQ(counter("slow_readers"), 1);
  EXPECT_TRUE(eventually([this] { return pool.snapshot().gauges.at("connections") == 0; }));
}

}  // namespace
}  // namespace poolpilot
