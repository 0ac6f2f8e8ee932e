// A live pool on a system that refuses threads, descriptors and epoll_ctl, at every call in turn.
#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

constexpr int kClients = 6;

// Runs `scenario` with the first call refused, then with the second, until it meets no refusal.
template <typename Scenario>
int refuse_in_turn(Refusable call, Scenario scenario) {
  int nth = 0;
  bool refused = true;
  while (refused) {
    SCOPED_TRACE("call " + std::to_string(++nth) + " refused");
    const Refusal refusal(call, nth);
    scenario(refusal);
    refused = refusal.refused() > 0;
  }
  return nth - 1;
}

// False when the pool could not start: then it must be as good as closed.
bool starts(LivePool& pool) {
  try {
    pool.start();
    return true;
  } catch (const std::system_error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("cannot ")) << error.what();
    EXPECT_THROW(pool.start(), std::logic_error);
    EXPECT_THROW(pool.snapshot(), std::logic_error);
    return false;
  }
}

bool changes(LivePool& pool, const PoolTuple& tuple) {
  try {
    pool.set_tuple(tuple);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Transactions that hand a latch round while the pool grows and shrinks, until the clients leave.
// How many lost their connection before; the others must get every answer.
int lost_clients(LivePool& pool) {
  std::vector<std::unique_ptr<LiveClient>> clients;
  for (int i = 0; i < kClients; ++i)
    clients.push_back(std::make_unique<LiveClient>(pool.address()));
  int lost = 0;
  for (const int pool_size : {1, 3, 1}) {
    PoolTuple tuple = small_pool().tuple;
    tuple.pool_size = pool_size;
    changes(pool, tuple);
    for (auto& client : clients) {
      if (!client) continue;
      const auto held = client->call(1, {begin(), acquire(1), reported(100)});
      const auto given = held ? client->call(2, {commit()}) : std::nullopt;
      if (given) {
        EXPECT_EQ(held->status, Status::kOk);
        EXPECT_EQ(given->status, Status::kOk);
      } else {
        client.reset();
        ++lost;
      }
    }
  }
  clients.clear();
  EXPECT_TRUE(eventually([&] { return pool.snapshot().gauges.at("connections") == 0; }));
  EXPECT_EQ(pool.snapshot().counters.at("failed"), 0);
  return lost;
}

TEST(LiveRefusal, AStartThatIsRefusedAnythingUndoesItself) {
  const LeftOpen left_open;
  const std::string path = socket_path();
  std::filesystem::remove(path);  // of a run that failed
  LivePoolSettings settings = small_pool();
  settings.address = "unix:" + path;
  settings.tuple.pool_size = 3;
  for (const auto& [call, expected] :
       std::vector<std::pair<Refusable, int>>{{Refusable::kListen, 1},
                                              {Refusable::kEventfd, 1 + 3},
                                              {Refusable::kEpollCreate, 3},
                                              {Refusable::kEpollCtl, 3},
                                              {Refusable::kThread, 2}}) {
    const int refused = refuse_in_turn(call, [&](const Refusal& refusal) {
      LivePool pool(settings);
      const bool served = starts(pool);
      EXPECT_EQ(served, refusal.refused() == 0);
      if (!served) {
        EXPECT_FALSE(std::filesystem::exists(path));
        EXPECT_TRUE(left_open.nothing());
      }
      pool.close();
    });
    EXPECT_EQ(refused, expected);
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST(LiveRefusal, AStartOfThePortOfAnotherCanBeClosed) {
  LivePool first(small_pool());
  first.start();
  LivePoolSettings settings = small_pool();
  settings.address = first.address();
  LivePool second(settings);
  EXPECT_FALSE(starts(second));
  second.close();
}

TEST(LiveRefusal, EveryThreadInTurn) {
  const LeftOpen left_open;
  const int refused = refuse_in_turn(Refusable::kThread, [](const Refusal&) {
    LivePool pool(small_pool());
    if (!starts(pool)) return;
    EXPECT_EQ(lost_clients(pool), 0);
    pool.close();
    for (const EventLog& log : pool.event_logs()) EXPECT_EQ(replay(log), log.entries.size());
  });
  EXPECT_GT(refused, 2);
  EXPECT_TRUE(left_open.nothing());
}

TEST(LiveRefusal, EveryEpollCtlInTurn) {
  const LeftOpen left_open;
  int lost = 0;
  const int refused = refuse_in_turn(Refusable::kEpollCtl, [&lost](const Refusal& refusal) {
    LivePool pool(small_pool());
    if (!starts(pool)) return;
    const int lost_now = lost_clients(pool);
    const double unarmed = pool.snapshot().counters.at("unarmed_connections");
    EXPECT_LE(lost_now, unarmed);  // a client does not notice what follows its last answer
    EXPECT_LE(unarmed, refusal.refused());
    lost += lost_now;
    pool.close();
  });
  // Every client is armed after its login and its six answers, and notices all but the last.
  EXPECT_GT(refused, kClients * 7);
  EXPECT_GE(lost, kClients * 6);
  EXPECT_TRUE(left_open.nothing());
}

TEST(LiveRefusal, WithoutAnyWorkerItCountsNoneAndServesOnceThereAreSome) {
  LivePool pool(small_pool());
  pool.start();
  const auto counter = [&pool](const char* name) { return pool.snapshot().counters.at(name); };
  std::vector<std::unique_ptr<LiveClient>> clients;
  {
    const Refusal refusal(Refusable::kThread, 1, INT_MAX);
    for (int i = 0; i < kClients; ++i) {
      clients.push_back(std::make_unique<LiveClient>(pool.address()));
      clients.back()->send_request(1, {reported(100)});
    }
    // Past every arrival, so that ticks have been refused as well.
    ASSERT_TRUE(eventually([&refusal] { return refusal.refused() > 2 * kClients + 3; }));
    EXPECT_EQ(counter("thread_creations"), 0);
    EXPECT_EQ(counter("thread_creations_stall"), 0);
    EXPECT_EQ(pool.snapshot().gauges.at("threads"), 0);
  }
  for (const auto& client : clients) EXPECT_TRUE(client->read().has_value());
  EXPECT_GT(counter("thread_creations"), 0);
}

}  // namespace
}  // namespace poolpilot
