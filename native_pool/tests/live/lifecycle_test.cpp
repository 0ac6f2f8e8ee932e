// A live pool from its start to its close: nothing that runs beside a close may meet what it frees.
// POOLPILOT_CLOSES sets how many pools each of the random tests closes (100).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
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

using std::chrono::microseconds;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

// Every public call that needs a pool which serves.
std::vector<std::function<void(LivePool&)>> calls() {
  return {[](LivePool& pool) { pool.snapshot(); }, [](LivePool& pool) { pool.set_tuple({2}); },
          [](LivePool& pool) { pool.tuple(); }, [](LivePool& pool) { pool.address(); }};
}

// Requests of all sorts, so that a close finds workers in waits, in latches and asleep.
void send_some(const LiveClient& client) {
  client.send_request(1, {reported(500)});
  client.send_request(2, {silent(1'000), reported(1'000)});
  client.send_request(3, {begin(), acquire(1), reported(300), silent(300)});
  client.send_request(4, {cpu(50), reported(300), commit()});
  client.send_request(5, {silent(1'000), reported(1'000)});
}

using Clients = std::vector<std::unique_ptr<LiveClient>>;

LivePoolSettings random_pool(std::mt19937& random) {
  LivePoolSettings settings = small_pool();
  settings.tuple.pool_size = 1 + static_cast<int>(random() % 3);
  settings.tuple.timer_interval_ms = 1 + static_cast<int>(random() % 10);
  return settings;
}

// Requests under way in every thread there is.
void keep_busy(LivePool&, const Clients& clients) {
  for (const auto& client : clients) send_some(*client);
}

// One request under way, taken by the listener itself, beside threads that sleep.
void leave_one_at_work(LivePool& pool, const Clients& clients) {
  for (const auto& client : clients) client->send_request(1, {reported(300)});
  for (const auto& client : clients) ASSERT_TRUE(client->read().has_value());
  ASSERT_TRUE(eventually([&] { return pool.snapshot().gauges.at("active_threads") == 0; }));
  clients.front()->send_request(2, {silent(1'500), reported(500)});
}

void close_under_load(void (*load)(LivePool&, const Clients&)) {
  const LeftOpen left_open;
  for (int seed = 0; seed < closes(); ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    LivePool pool(random_pool(random));
    pool.start();
    Clients clients;
    for (int i = 0; i < 6; ++i) clients.push_back(std::make_unique<LiveClient>(pool.address()));
    load(pool, clients);
    std::this_thread::sleep_for(microseconds(random() % 2'500));  // anywhere in the requests
    if (random() % 2 == 0) clients.clear();                       // the load dies first
    pool.close();
    for (const EventLog& log : pool.event_logs()) ASSERT_EQ(replay(log), log.entries.size());
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST(Lifecycle, ClosesWithRequestsInFlight) { close_under_load(keep_busy); }

TEST(Lifecycle, ClosesWithOneRequestAtWorkAndThreadsAsleep) { close_under_load(leave_one_at_work); }

TEST(Lifecycle, SnapshotsChangesAndASecondCloseAgainstClose) {
  const LeftOpen left_open;
  std::mt19937 random(1);
  for (int i = 0; i < closes(); ++i) {
    LivePool pool(small_pool());
    pool.start();
    const LiveClient client(pool.address());
    send_some(client);
    std::vector<std::thread> others;
    for (const auto& call : calls()) {
      others.emplace_back([&pool, call] {
        EXPECT_EQ(error_of([&] {
                    while (true) call(pool);
                  }),
                  "the pool is closed: make a new one");
      });
    }
    others.emplace_back([&pool, pause = microseconds(random() % 1'000)] {
      std::this_thread::sleep_for(pause);
      pool.close();
      EXPECT_FALSE(pool.event_logs().empty());  // closed for the second of two closes as well
    });
    std::this_thread::sleep_for(microseconds(random() % 1'000));
    pool.close();
    for (std::thread& other : others) other.join();
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST(Lifecycle, APoolThatDoesNotServeYetSaysSo) {
  LivePool pool(small_pool());
  for (const auto& call : calls()) {
    EXPECT_EQ(error_of([&] { call(pool); }), "the pool does not serve yet: start it first");
  }
}

TEST(Lifecycle, APoolStartsOnceAndNeverAfterAClose) {
  LivePool pool(small_pool());
  pool.start();
  EXPECT_EQ(error_of([&] { pool.start(); }), "the pool serves already: a pool starts once");
  pool.close();
  EXPECT_EQ(error_of([&] { pool.start(); }), "the pool is closed: make a new one");
  LivePool unused(small_pool());
  unused.close();
  EXPECT_EQ(error_of([&] { unused.start(); }), "the pool is closed: make a new one");
}

// What a child does with the pool it was forked with. How many calls were not refused.
int leave_to_the_parent(LivePoolHolder& pool) {
  alarm(20);  // it would wait for ever for threads that it does not have
  pool->close();
  const std::string sentence = "the pool serves in the process that was forked: make a new one";
  int wrong = 0;
  for (const auto& call : calls()) {
    wrong += error_of([&] { call(*pool); }) == sentence ? 0 : 1;
  }
  wrong += error_of([&] { pool->start(); }) == sentence ? 0 : 1;
  pool.reset();
  return wrong;
}

TEST(Lifecycle, AForkedChildLeavesThePoolToItsParent) {
  LivePoolSettings settings = small_pool();
  settings.address = "unix:" + socket_path();
  LivePoolHolder pool(new LivePool(settings));
  pool->start();
  const LiveClient early(pool->address());
  early.send_request(1, {cpu(10)});
  ASSERT_TRUE(early.read().has_value());
  const pid_t child = fork();
  if (child == 0) _exit(leave_to_the_parent(pool));
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  early.send_request(2, {cpu(10)});
  EXPECT_TRUE(early.read().has_value());
  const LiveClient late(settings.address);
  late.send_request(1, {cpu(10)});
  EXPECT_TRUE(late.read().has_value());
}

TEST(Lifecycle, EventsAreReadOnceThePoolIsClosed) {
  LivePool pool(small_pool());
  pool.start();
  EXPECT_EQ(error_of([&] { pool.event_logs(); }),
            "the pool still records its events: close it first");
  pool.close();
  EXPECT_EQ(pool.event_logs().size(), 16U);
}

}  // namespace
}  // namespace poolpilot
