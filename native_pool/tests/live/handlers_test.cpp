// What every connection handler owes the clients of a live pool, and its pool.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "live/server.hpp"
#include "tests/allocations.hpp"
#include "tests/live/client.hpp"
#include "tests/live/every_handler.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

class EveryHandler : public testing::TestWithParam<HandlerKind> {
 protected:
  static LivePoolSettings settings() {
    LivePoolSettings made = small_pool();
    made.handling.handler = GetParam();
    made.executor.latch_timeout_s = 60.0;
    return made;
  }

  void start(const LivePoolSettings& settings) {
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }
  double gauge(const std::string& name) { return pool->snapshot().gauges.at(name); }
  bool everybody_left() {
    return eventually([this] { return gauge("connections") == 0; });
  }

  std::vector<LiveClient> clients(int number) {
    std::vector<LiveClient> all;
    for (int i = 0; i < number; ++i) all.emplace_back(pool->address());
    return all;
  }

  std::unique_ptr<LivePool> pool;
};

INSTANTIATE_TEST_SUITE_P(Handlers, EveryHandler, all_handlers(),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(EveryHandler, AnswersEveryRequestOnceOverTcpAndUnixSockets) {
  const LeftOpen left_open;
  for (const std::string& address : {std::string("tcp:127.0.0.1:0"), "unix:" + socket_path()}) {
    LivePoolSettings made = settings();
    made.address = address;
    start(made);
    const std::vector<LiveClient> all = clients(20);
    for (std::uint64_t id = 1; id <= 10; ++id) {
      for (const LiveClient& one : all) one.send_request(id, {cpu(5), reported(20), silent(20)});
      for (const LiveClient& one : all) {
        const auto answer = one.read();
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->request_id, id);
        EXPECT_EQ(answer->status, Status::kOk);
      }
    }
    EXPECT_EQ(counter("completed"), 200);
    pool->close();
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST_P(EveryHandler, ClosesWhoIsSilentForTooLongAndNobodyElse) {
  LivePoolSettings made = settings();
  made.wait_timeout_s = 1.0;
  start(made);
  const LiveClient waiting(pool->address());
  waiting.send_request(1, {silent(3'000'000)});
  const LiveClient talking(pool->address());
  const LiveClient never_spoke(pool->address());
  const LiveClient in_transaction(pool->address());
  ASSERT_TRUE(in_transaction.call(1, {begin(), acquire(3)}).has_value());
  const LiveClient wants_the_latch(pool->address());
  wants_the_latch.send_request(1, {acquire(3)});
  while (counter("timed_out_connections") < 2) {
    ASSERT_TRUE(talking.call(1, {silent(1'000)}).has_value());
  }
  EXPECT_FALSE(never_spoke.read().has_value());
  EXPECT_FALSE(in_transaction.read().has_value());
  EXPECT_EQ(wants_the_latch.read().value().status, Status::kOk);
  EXPECT_TRUE(talking.call(2, {}).has_value());
  EXPECT_TRUE(waiting.read().has_value());
  EXPECT_EQ(counter("hang_ups"), 0);
}

TEST_P(EveryHandler, RefusesWhoIsOverMaxConnectionsAndTakesTheNext) {
  LivePoolSettings made = settings();
  made.max_connections = 3;
  start(made);
  {
    const std::vector<LiveClient> all = clients(3);
    for (const LiveClient& one : all) ASSERT_TRUE(one.call(1, {}).has_value());
    const LiveClient refused(pool->address());
    EXPECT_FALSE(refused.call(1, {}).has_value());
  }
  ASSERT_TRUE(everybody_left());
  EXPECT_EQ(counter("refused_connections"), 1);
  EXPECT_TRUE(LiveClient(pool->address()).call(1, {}).has_value());
}

TEST_P(EveryHandler, AsksForNoMemoryOnceRequestsAreServed) {
  start(settings());
  const std::vector<LiveClient> all = clients(6);
  const auto serve = [&all](std::uint64_t rounds) {
    for (std::uint64_t id = 1; id <= rounds; ++id) {
      for (const LiveClient& one : all)
        one.send_request(id, {cpu(1), reported(1), begin(), commit()});
      for (const LiveClient& one : all) ASSERT_TRUE(one.read().has_value());
    }
  };
  long asked = 0;
  // A thread more may be created at any time where the machine is busy, so several tries.
  for (int attempt = 0; attempt < 10; ++attempt) {
    serve(100);
    const long before = allocations_of_others();
    serve(200);
    asked = allocations_of_others() - before;
    if (asked == 0) break;
  }
  EXPECT_EQ(asked, 0);
}

TEST_P(EveryHandler, CountsTheTimeItsThreadsAreThereAndAtWork) {
  start(settings());
  const LiveClient client(pool->address());
  ASSERT_TRUE(client.call(1, {}).has_value());
  const PoolSnapshot before = pool->snapshot();
  ASSERT_TRUE(client.call(2, {silent(100'000), reported(200'000)}).has_value());
  const PoolSnapshot after = pool->snapshot();
  const auto rise_us = [&](const char* name) {
    return after.counters.at(name) - before.counters.at(name);
  };
  EXPECT_GE(rise_us("thread_us"), 300'000);
  EXPECT_GE(rise_us("active_thread_us"), 100'000);
  EXPECT_LT(rise_us("active_thread_us"), 300'000);  // reported waits are not work
  client.send_request(3, {silent(200'000)});
  EXPECT_TRUE(eventually([this] { return gauge("active_threads") == 1; }));
  ASSERT_TRUE(client.read().has_value());
  EXPECT_TRUE(eventually([this] { return gauge("active_threads") == 0; }));
}

TEST_P(EveryHandler, WhatItCountsNeverFalls) {
  start(settings());
  std::vector<LiveClient> all = clients(4);
  std::map<std::string, double> before = pool->snapshot().counters;
  for (std::uint64_t id = 1; id <= 200; ++id) {
    if (id % 20 == 0) all[id / 20 % all.size()] = LiveClient(pool->address());
    for (const LiveClient& one : all) one.send_request(id, {cpu(20), reported(50)});
    for (const auto& [name, value] : pool->snapshot().counters) {
      EXPECT_GE(value, before.at(name)) << name;
      before[name] = value;
    }
    for (const LiveClient& one : all) ASSERT_TRUE(one.read().has_value());
  }
}

TEST_P(EveryHandler, ClosesUnderLoadAtAnyMoment) {
  const LeftOpen left_open;
  std::mt19937 random(7);
  for (int i = 0; i < closes(); ++i) {
    LivePoolSettings made = settings();
    made.tuple.pool_size = 1 + static_cast<int>(random() % 3);
    start(made);
    std::vector<LiveClient> all = clients(6);
    for (const LiveClient& one : all) {
      one.send_request(1, {reported(500)});
      one.send_request(2, {begin(), acquire(1), reported(300), silent(300)});
      one.send_request(3, {cpu(50), commit()});
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'500));
    if (random() % 2 == 0) all.clear();
    pool->close();
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST_P(EveryHandler, AStartThatIsRefusedAThreadOrADescriptorLeavesNothing) {
  const LeftOpen left_open;
  for (const Refusable call : {Refusable::kThread, Refusable::kEventfd, Refusable::kEpollCreate}) {
    bool refused = true;
    for (int nth = 1; refused; ++nth) {
      const Refusal refusal(call, nth);
      pool = std::make_unique<LivePool>(settings());
      try {
        pool->start();
      } catch (const std::system_error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("cannot ")) << error.what();
      }
      refused = refusal.refused() > 0;
      pool.reset();
      EXPECT_TRUE(left_open.nothing());
    }
  }
}

TEST_P(EveryHandler, LosesNobodyElseWhenTheSystemRefusesAThread) {
  const LeftOpen left_open;
  bool refused = true;
  for (int nth = 1; refused; ++nth) {
    start(settings());
    const Refusal refusal(Refusable::kThread, nth);
    std::vector<LiveClient> all = clients(6);
    int lost = 0;
    for (const LiveClient& one : all) {
      lost += one.call(1, {begin(), acquire(1), reported(100), commit()}) ? 0 : 1;
    }
    EXPECT_EQ(lost, counter("unserved_connections"));
    EXPECT_LE(lost, refusal.refused());
    refused = refusal.refused() > 0;
    all.clear();
    EXPECT_TRUE(everybody_left());
    pool->close();
  }
  EXPECT_TRUE(left_open.nothing());
}

}  // namespace
}  // namespace poolpilot
