// The hybrid handler of a live pool: who waits where, how many threads there are, and hand-overs
// under load. POOLPILOT_HAND_OVERS sets how many clients the last test sends each way (300).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

LivePoolSettings hybrid_pool(int max_threads, int min_waiting = 1) {
  LivePoolSettings settings = small_pool();
  settings.handling.handler = HandlerKind::kHybrid;
  settings.handling.hybrid = {max_threads, min_waiting, 20, 0};
  settings.executor.latch_timeout_s = 60.0;
  return settings;
}

Step acquire_and_say_so(std::uint8_t latch) { return {Op::kAcquire, latch, kReported, 0}; }

class HybridTest : public testing::Test {
 protected:
  void start(const LivePoolSettings& settings) {
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }
  double gauge(const std::string& name) { return pool->snapshot().gauges.at(name); }

  double unarmed_and_unserved() {
    return counter("unarmed_connections") + counter("unserved_connections");
  }

  void connect(int number) {
    for (int i = 0; i < number; ++i) {
      clients.emplace_back(pool->address());
      ASSERT_TRUE(clients.back().call(1, {}).has_value());
    }
  }

  void call_all(int rounds = 1) {
    for (int i = 0; i < rounds; ++i) {
      for (const LiveClient& one : clients) ASSERT_TRUE(one.call(1, {}).has_value());
    }
  }

  // Turns that begin in the epoll while every client sends once.
  double taken_in_a_round() {
    const double before = counter("dequeues_worker");
    call_all();
    return counter("dequeues_worker") - before;
  }

  bool handed_over(double to_own_socket, double to_epoll) {
    return eventually([&] {
      const auto counters = pool->snapshot().counters;
      return counters.at("hand_overs_to_own_socket") == to_own_socket &&
             counters.at("hand_overs_to_epoll") == to_epoll;
    });
  }

  std::unique_ptr<LivePool> pool;
  std::vector<LiveClient> clients;
};

TEST_F(HybridTest, UpToSoManyConnectionsEachHasAThreadOfItsOwn) {
  start(hybrid_pool(4));
  connect(4);
  EXPECT_TRUE(handed_over(4, 0));
  EXPECT_EQ(gauge("threads"), 4);
  EXPECT_EQ(taken_in_a_round(), 0);
}

TEST_F(HybridTest, OneMoreSendsAllToTheEpollWithoutARequestOfTheirs) {
  start(hybrid_pool(4));
  connect(4);
  ASSERT_TRUE(handed_over(4, 0));
  const LiveClient silent_one(pool->address());
  EXPECT_TRUE(handed_over(4, 4));
  ASSERT_TRUE(eventually([this] { return counter("dequeues_worker") == 5; }));  // it has logged in
  EXPECT_EQ(taken_in_a_round(), 4);
  EXPECT_LE(gauge("threads"), 4);
}

TEST_F(HybridTest, OnceThereAreFewerEachGoesBackToItsOwnSocketAtItsNextRequest) {
  start(hybrid_pool(4));
  connect(5);
  ASSERT_TRUE(eventually([this] { return counter("hand_overs_to_epoll") >= 3; }));
  clients.pop_back();
  ASSERT_TRUE(eventually([this] { return gauge("connections") == 4; }));
  call_all(2);
  EXPECT_EQ(taken_in_a_round(), 0);
}

TEST_F(HybridTest, AnIdleClientHoldsNoThreadThatAnotherNeeds) {
  start(hybrid_pool(2));
  connect(30);
  EXPECT_LE(gauge("threads"), 2);
  call_all(3);
}

// Both threads wait for a latch whose holder has none.
TEST_F(HybridTest, WhereAllWaitForLocksTheHolderIsServed) {
  start(hybrid_pool(2));
  connect(4);
  ASSERT_TRUE(clients[0].call(1, {begin(), acquire(7)}).has_value());
  for (int i = 1; i < 4; ++i)
    clients[static_cast<std::size_t>(i)].send_request(2, {acquire_and_say_so(7), release(7)});
  ASSERT_TRUE(eventually([this] { return counter("waits_row_lock") >= 2; }));
  ASSERT_EQ(clients[0].call(2, {commit()}).value().status, Status::kOk);
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(clients[static_cast<std::size_t>(i)].read().value().status, Status::kOk);
  EXPECT_TRUE(eventually([this] { return gauge("threads") <= 2; }));
}

TEST_F(HybridTest, OtherWaitsCreateNobody) {
  start(hybrid_pool(2));
  connect(6);
  for (const LiveClient& one : clients) one.send_request(2, {reported(30'000)});
  for (int i = 0; i < 5; ++i) {
    EXPECT_LE(gauge("threads"), 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const LiveClient& one : clients) EXPECT_TRUE(one.read().has_value());
}

TEST_F(HybridTest, ThreadsBeyondTheMinimumEndAndThoseOfAnUnusedPoolToo) {
  LivePoolSettings settings = hybrid_pool(8, 2);
  settings.tuple.idle_timeout_s = 0.05;
  start(settings);
  connect(20);
  for (const LiveClient& one : clients) one.send_request(2, {silent(20'000)});
  EXPECT_TRUE(eventually([this] { return gauge("threads") == 8; }));
  for (const LiveClient& one : clients) EXPECT_TRUE(one.read().has_value());
  EXPECT_TRUE(eventually([this] { return gauge("threads") == 2; }));
  call_all();
  clients.clear();
  EXPECT_TRUE(eventually([this] { return gauge("threads") == 0; }));
  EXPECT_TRUE(LiveClient(pool->address()).call(1, {}).has_value());
}

TEST_F(HybridTest, ConnectionsMoveAtTheirNextTurnWhenThePoolSizeChanges) {
  start(hybrid_pool(2));
  connect(4);
  EXPECT_LE(gauge("threads"), 2);
  PoolTuple tuple = small_pool().tuple;
  tuple.pool_size = 4;
  pool->set_tuple(tuple);
  call_all(3);  // each is alone in its pool now
  EXPECT_EQ(taken_in_a_round(), 0);
  tuple.pool_size = 1;
  pool->set_tuple(tuple);
  call_all(2);
  EXPECT_EQ(taken_in_a_round(), 4);
}

TEST_F(HybridTest, MaxThreadsHoldsForAllPoolsTogether) {
  LivePoolSettings settings = hybrid_pool(8, 2);
  settings.knobs.max_threads = 3;
  settings.tuple.pool_size = 2;
  start(settings);
  connect(12);
  for (const LiveClient& one : clients) one.send_request(2, {silent(2'000)});
  EXPECT_LE(gauge("threads"), 4);  // and one of a pool that had none
  for (const LiveClient& one : clients) EXPECT_TRUE(one.read().has_value());
}

TEST_F(HybridTest, WithoutAnyThreadItServesOnceThereAreSome) {
  start(hybrid_pool(4));
  {
    const Refusal refusal(Refusable::kThread, 1, INT_MAX);
    for (int i = 0; i < 6; ++i) {
      clients.emplace_back(pool->address());
      clients.back().send_request(1, {reported(100)});
    }
    // Past every arrival, so that ticks have been refused as well.
    ASSERT_TRUE(eventually([&refusal] { return refusal.refused() > 10; }));
    EXPECT_EQ(counter("thread_creations"), 0);
    EXPECT_EQ(gauge("threads"), 0);
  }
  for (const LiveClient& one : clients) EXPECT_TRUE(one.read().has_value());
}

TEST_F(HybridTest, AConnectionThatTheEpollRefusesIsClosedAndNoOther) {
  const LeftOpen left_open;
  int lost = 0;
  bool refused = true;
  for (int nth = 1; refused; ++nth) {
    SCOPED_TRACE("call " + std::to_string(nth) + " refused");
    start(hybrid_pool(2));
    const Refusal refusal(Refusable::kEpollCtl, nth);
    for (int i = 0; i < 4; ++i) clients.emplace_back(pool->address());
    int lost_now = 0;
    for (int round = 1; round <= 3; ++round) {
      for (const LiveClient& one : clients) lost_now += one.call(1, {}) ? 0 : 1;
    }
    // A connection is armed after its reply: the last call may be refused beside these lines.
    EXPECT_TRUE(eventually([&] {
      refused = refusal.refused() > 0;
      return unarmed_and_unserved() == (refused ? 1 : 0);
    }));
    EXPECT_LE(lost_now, refused ? 3 : 0);
    lost += lost_now > 0 ? 1 : 0;
    clients.clear();
    EXPECT_TRUE(eventually([this] { return gauge("connections") == 0; }));
    pool->close();
  }
  EXPECT_GT(lost, 4);
  EXPECT_TRUE(left_open.nothing());
}

// ---- short turns ----

constexpr int kEveryTurnUs = 1'000'000;

LivePoolSettings sharing_pool(int share_below_us = kEveryTurnUs) {
  LivePoolSettings settings = hybrid_pool(8);
  settings.handling.hybrid.share_below_us = share_below_us;
  settings.cpus = {0};
  settings.tuple.timer_interval_ms = 1;
  return settings;
}

TEST_F(HybridTest, ConnectionsWhoseTurnsAreShortShareAFewThreads) {
  start(sharing_pool());
  connect(6);
  EXPECT_TRUE(eventually([this] { return gauge("threads") <= 2; }));
  EXPECT_EQ(taken_in_a_round(), 6);
  EXPECT_EQ(counter("hand_overs_to_own_socket"), counter("hand_overs_to_epoll"));
}

TEST_F(HybridTest, LongTurnsGiveEachAThreadOfItsOwnAgain) {
  start(sharing_pool(5'000));
  connect(6);
  ASSERT_TRUE(eventually([this] { return taken_in_a_round() == 6; }));
  ASSERT_TRUE(eventually([this] {
    for (const LiveClient& one : clients) one.send_request(2, {reported(20'000)});
    for (const LiveClient& one : clients) EXPECT_TRUE(one.read().has_value());
    return gauge("threads") >= 6;
  }));
}

// Several wait for a latch whose holder's commit may have been taken along with them.
void nobody_is_held_up(const std::vector<LiveClient>& clients, const Step& waiting) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    ASSERT_TRUE(clients[0].call(round, {begin(), acquire(7)}).has_value());
    for (std::size_t i = 1; i < clients.size(); ++i)
      clients[i].send_request(round, {waiting, release(7)});
    clients[0].send_request(round, {commit()});
    for (const LiveClient& one : clients) ASSERT_EQ(one.read().value().status, Status::kOk);
  }
}

TEST_F(HybridTest, WhoIsTakenAlongIsNotHeldUpByAWait) {
  start(sharing_pool());
  connect(7);
  nobody_is_held_up(clients, acquire_and_say_so(7));
  nobody_is_held_up(clients, acquire(7));
  EXPECT_LT(counter("polls_worker"), counter("dequeues_worker"));  // some were taken along
}

// Those who serve sleep and do not say so, all of them.
TEST_F(HybridTest, SilentSleepersHoldNobodyUp) {
  start(sharing_pool());
  connect(6);
  ASSERT_TRUE(eventually([this] { return gauge("threads") <= 2; }));
  const double before = counter("completed");
  for (std::size_t i = 0; i < 3; ++i) clients[i].send_request(2, {silent(2'000'000)});
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 3; i < 6; ++i) ASSERT_TRUE(clients[i].call(2, {}).has_value());
  }
  EXPECT_EQ(counter("completed"), before + 60);  // the three still sleep
}

TEST_F(HybridTest, WhereEnoughServeTheOthersStandBy) {
  LivePoolSettings settings = sharing_pool();
  settings.handling.hybrid = {16, 2, 20, kEveryTurnUs};
  start(settings);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      const LiveClient client(pool->address());
      while (!over) ASSERT_TRUE(client.call(1, {cpu(200)}).has_value());
    });
  }
  EXPECT_TRUE(eventually([this] { return counter("completed") > 200; }));
  EXPECT_TRUE(eventually([this] { return gauge("threads") <= 6; }));
  over = true;
  for (std::thread& one : threads) one.join();
}

// Five threads are four that serve, one for each processor, and one that waits.
TEST_F(HybridTest, ARefusedPoolSizeLeavesThePoolsTheirProcessors) {
  LivePoolSettings settings = sharing_pool();
  settings.handling.hybrid.max_threads = 16;
  settings.cpus = {0, 0, 0, 0};  // counts as four
  start(settings);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const LiveClient client(pool->address());
      while (!over) ASSERT_TRUE(client.call(1, {cpu(200)}).has_value());
    });
  }
  EXPECT_TRUE(eventually([this] { return gauge("threads") >= 5; }));
  {
    const Refusal refusal(Refusable::kEpollCreate, 1);
    PoolTuple tuple = settings.tuple;
    tuple.pool_size = 4;
    EXPECT_THROW(pool->set_tuple(tuple), std::system_error);
  }
  double fewest = 5;
  const double enough = counter("completed") + 2'000;
  EXPECT_TRUE(eventually([&] {
    fewest = std::min(fewest, gauge("threads"));
    return counter("completed") > enough;
  }));
  EXPECT_EQ(fewest, 5);
  over = true;
  for (std::thread& one : threads) one.join();
}

// ---- around the hand-over, in both directions ----

// What clients that come and go have sent and got.
struct Account {
  std::atomic<std::int64_t> sent{0};
  std::atomic<std::int64_t> answered{0};
};

// One client after the other, of which each leaves in another way.
void come_and_go(const std::string& address, unsigned seed, int number, Account& account) {
  std::mt19937 random(seed);
  for (int i = 0; i < number; ++i) {
    LiveClient client(address);
    const auto requests = static_cast<std::uint64_t>(random() % 5);
    for (std::uint64_t id = 1; id <= requests; ++id) {
      ++account.sent;
      const auto answer = client.call(
          id, id % 2 == 0 ? std::vector{begin(), acquire_and_say_so(1), cpu(5), commit()}
                          : std::vector{reported(20), cpu(5)});
      ASSERT_TRUE(answer.has_value());
      ASSERT_EQ(answer->request_id, id);
      ASSERT_EQ(answer->status, Status::kOk);
      ++account.answered;
    }
    if (random() % 3 == 0) client.finish_sending();
    if (random() % 3 == 0) client.reset();
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
  }
}

TEST_F(HybridTest, LosesNothingWhileClientsComeAndGoAndThePoolSizeChanges) {
  const LeftOpen left_open;
  const int number = number_from_environment("POOLPILOT_HAND_OVERS", 300);
  LivePoolSettings settings = hybrid_pool(3);
  settings.handling.hybrid.share_below_us = 150;  // turns now lie below it, now above
  settings.handling.hybrid.keep_excess_ms = 1;
  settings.tuple.timer_interval_ms = 1;
  settings.tuple.idle_timeout_s = 0.01;
  start(settings);
  Account account;
  std::atomic<int> over{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      come_and_go(pool->address(), i, number, account);
      ++over;
    });
  }
  std::mt19937 random(99);
  while (over < 6) {
    PoolTuple tuple = settings.tuple;
    tuple.pool_size = 1 + static_cast<int>(random() % 3);
    pool->set_tuple(tuple);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(account.answered, account.sent);
  EXPECT_EQ(counter("completed"), static_cast<double>(account.sent));
  EXPECT_EQ(counter("failed"), 0);
  EXPECT_EQ(counter("unarmed_connections"), 0);
  EXPECT_GT(counter("hand_overs_to_own_socket"), 100);
  EXPECT_GT(counter("hand_overs_to_epoll"), 0);
  EXPECT_TRUE(eventually([this] { return gauge("connections") == 0; }));
  EXPECT_TRUE(eventually([this] { return gauge("threads") == 0; }));
  pool->close();
  EXPECT_TRUE(left_open.nothing());
}

}  // namespace
}  // namespace poolpilot
