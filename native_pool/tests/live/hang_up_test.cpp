// Clients of a live pool that go: at once where a poll says so, and never before their answer.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/every_handler.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/load/received.hpp"

namespace poolpilot {
namespace {

enum class Leaves { kCloses, kResets, kEndsSending };

class HangUp : public testing::TestWithParam<std::tuple<bool, HandlerKind>> {
 protected:
  HangUp() { spare_recv(); }

  void start(bool at_once = true) {
    LivePoolSettings settings = small_pool();
    settings.hang_up_at_once = at_once;
    settings.executor.latch_timeout_s = 60.0;
    const auto [unix_socket, handler] = GetParam();
    settings.handling.handler = handler;
    if (unix_socket) settings.address = "unix:" + socket_path();
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }

  bool everybody_left() {
    return eventually([this] { return pool->snapshot().gauges.at("connections") == 0; });
  }

  // Calls of recv() that a client costs who was answered once and then leaves.
  long recv_calls_of_one_who(Leaves how) {
    LiveClient client(pool->address());
    EXPECT_TRUE(client.call(1, {cpu(1)}).has_value());
    const long before = recv_calls();
    if (how == Leaves::kCloses) client.close();
    if (how == Leaves::kResets) client.reset();
    if (how == Leaves::kEndsSending) client.finish_sending();
    EXPECT_TRUE(everybody_left());
    return recv_calls() - before;
  }

  std::unique_ptr<LivePool> pool;
};

INSTANTIATE_TEST_SUITE_P(Kinds, HangUp, testing::Combine(testing::Bool(), all_handlers()),
                         [](const auto& kind) {
                           return name_of(std::get<1>(kind.param)) +
                                  (std::get<0>(kind.param) ? "OnAUnixSocket" : "OverTcp");
                         });

TEST_P(HangUp, AClientThatIsGoneIsNotReadFrom) {
  start();
  for (const Leaves how : {Leaves::kCloses, Leaves::kResets, Leaves::kEndsSending}) {
    EXPECT_EQ(recv_calls_of_one_who(how), 0);
  }
  EXPECT_EQ(counter("hang_ups"), 3);
}

TEST_P(HangUp, SwitchedOffAReadFindsOut) {
  start(false);
  for (const Leaves how : {Leaves::kCloses, Leaves::kResets, Leaves::kEndsSending}) {
    EXPECT_EQ(recv_calls_of_one_who(how), 1);
  }
  EXPECT_EQ(counter("hang_ups"), 0);
}

TEST_P(HangUp, AClientThatOnlyEndsItsSendingIsAnswered) {
  start();
  const LiveClient client(pool->address());
  constexpr std::uint64_t kRequests = 300;  // more than one read can hold
  for (std::uint64_t id = 1; id <= kRequests; ++id) client.send_request(id, {});
  client.finish_sending();
  for (std::uint64_t id = 1; id <= kRequests; ++id) {
    const auto answer = client.read();
    ASSERT_TRUE(answer.has_value()) << id;
    EXPECT_EQ(answer->request_id, id);
  }
  EXPECT_FALSE(client.read().has_value());
  EXPECT_EQ(counter("completed"), kRequests);
  EXPECT_EQ(counter("hang_ups"), 1);
}

TEST_P(HangUp, GivesBackTheLatchesOfATransaction) {
  start();
  LiveClient leaving(pool->address());
  ASSERT_EQ(leaving.call(1, {begin(), acquire(3)}).value().status, Status::kOk);
  const LiveClient other(pool->address());
  other.send_request(2, {acquire(3)});
  leaving.close();
  const auto answer = other.read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, Status::kOk);
}

// The threads that close some must not miss what others sent in the same moment.
TEST_P(HangUp, OthersAreServedWhileManyLeave) {
  start();
  const LiveClient staying(pool->address());
  for (std::uint64_t round = 1; round <= 50; ++round) {
    std::vector<LiveClient> leaving;
    for (int i = 0; i < 8; ++i) leaving.emplace_back(pool->address());
    for (const LiveClient& one : leaving) ASSERT_TRUE(one.call(1, {}).has_value());
    leaving.clear();
    ASSERT_TRUE(staying.call(round, {reported(50)}).has_value());
  }
  staying.finish_sending();
  EXPECT_TRUE(everybody_left());
  EXPECT_EQ(counter("hang_ups"), 50 * 8 + 1);
  pool->close();
  for (const EventLog& log : pool->event_logs()) EXPECT_EQ(replay(log), log.entries.size());
}

}  // namespace
}  // namespace poolpilot
