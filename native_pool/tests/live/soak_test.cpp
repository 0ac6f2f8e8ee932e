// A live pool under load, under clients that misbehave and a system that refuses, all at once: no
// request vanishes, and everything comes back.
//
// Both sides count alone and must agree: sent = completed + failed + refused + cancelled. Run alone
// these tests grow as long as asked for: POOLPILOT_SOAK_REQUESTS requests and POOLPILOT_CHANGES
// changes of knobs in each of the first, POOLPILOT_CLOSES closes in each of the second;
// POOLPILOT_SOAK_SEED draws others. benchmarks/experiments/soak.py does that.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <tuple>

#include "live/server.hpp"
#include "tests/environment.hpp"
#include "tests/live/every_handler.hpp"
#include "tests/live/knob_turner.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/live/soak_accounts.hpp"
#include "tests/live/soak_load.hpp"

namespace poolpilot {
namespace {

constexpr int kRequestsAWave = 20'000;
constexpr int kHastyShare = 80;  // of the requests, per cent: they cost least
constexpr int kWavesOfAPool = 20;
constexpr int kRequestsASlowReader = 50'000;
constexpr int kRequestsATcpSlowReader = 1'500'000;  // it takes a quarter of a million of them
constexpr std::int64_t kMostGrowthBytes = std::int64_t{512} * 1024;

// What the program holds of the heap; a sanitizer's own allocator says 0.
std::int64_t heap_bytes() { return static_cast<std::int64_t>(mallinfo2().uordblks); }

class Soak : public testing::TestWithParam<std::tuple<HandlerKind, bool>> {
 protected:
  Soak() : random_(static_cast<unsigned>(number_from_environment("POOLPILOT_SOAK_SEED", 1))) {
    spare_this_thread();
  }
  ~Soak() override { spare_this_thread(false); }

  LivePoolSettings settings() {
    LivePoolSettings made = small_pool();
    made.handling.handler = std::get<HandlerKind>(GetParam());
    made.handling.thread_cache_size = 4;
    if (!is_tcp()) made.address = "unix:" + socket_path();
    made.record_events = false;
    made.class_names = {"quick", "slow", "misbehaving"};
    made.max_connections = 40;
    made.wait_timeout_s = 0.2;
    made.executor = {.sample_every = 16, .latch_timeout_s = 0.1};
    made.queues = any_queues(random_);
    made.knobs.admission.admission_queue_limit = 4;
    made.knobs.admission.admission_escape_ms = 20;
    return made;
  }

  static bool is_tcp() { return !std::get<bool>(GetParam()); }

  void start(const LivePoolSettings& made) {
    pool_ = std::make_unique<LivePool>(made);
    pool_->start();
  }

  // Clients are accepted in their order: once a last one has been answered, all others have been.
  void empty_backlog() {
    ClientTally last;
    while (last.completed == 0 && last.hung == 0) {
      SoakClient client(pool_->address(), connecting_, last);
      client.add({}, Misbehaviour::kClass);
      client.send();
      client.read_all();
    }
    accounts_.add(last);
  }

  // Every client leaves; then both sides have counted the same.
  void stop(SoakLoad& load) {
    load.stop();
    empty_backlog();
    EXPECT_TRUE(eventually([this] { return pool_->snapshot().gauges.at("connections") == 0; }));
    accounts_.add(load);
    accounts_.expect_agreement(Served(pool_->snapshot()));
  }

  void close() {
    {
      const std::unique_lock nobody_connects(connecting_);
      pool_->close();
    }
    accounts_.close(Served(pool_->last_snapshot()));
  }

  // A new pool with queues and knobs of its own.
  void renew() {
    if (pool_) close();
    const LivePoolSettings made = settings();
    start(made);
    turner_ = std::make_unique<KnobTurner>(made, random_());
  }

  // Loads the pool until so many have been sent in all, and so many knobs turned.
  void wave(std::int64_t requests, std::int64_t changes, bool slow_reader) {
    const std::int64_t left = std::max<std::int64_t>(requests - accounts_.sent(), 0);
    SoakLoad load(*pool_, connecting_,
                  {.slow_reader = slow_reader, .hasty_requests = left * kHastyShare / 100},
                  random_);
    while (changes_ < changes || accounts_.sent() + load.sent() < requests) {
      if (changes_ < changes) changes_ += turner_->turn(*pool_) ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    stop(load);
    turner_->restore(*pool_);
  }

  void record(std::int64_t growth_bytes) const {
    const auto put = [](const std::string& name, std::int64_t value) {
      RecordProperty(name, std::to_string(value));
    };
    accounts_.report(put);
    put("changes", changes_);
    put("growth_bytes", growth_bytes);
  }

  std::mt19937 random_;
  std::shared_mutex connecting_;
  std::unique_ptr<LivePool> pool_;
  std::unique_ptr<KnobTurner> turner_;
  std::int64_t changes_ = 0;
  SoakAccounts accounts_;
};

INSTANTIATE_TEST_SUITE_P(Handlers, Soak, testing::Combine(all_handlers(), testing::Bool()),
                         [](const auto& kind) {
                           return name_of(std::get<0>(kind.param)) +
                                  (std::get<1>(kind.param) ? "OnAUnixSocket" : "OverTcp");
                         });

TEST_P(Soak, LosesNoRequestToFaultsWhileItServes) {
  const int requests = number_from_environment("POOLPILOT_SOAK_REQUESTS", 3'000);
  const int changes = number_from_environment("POOLPILOT_CHANGES", 60);
  const int a_slow_reader = is_tcp() ? kRequestsATcpSlowReader : kRequestsASlowReader;
  const int waves = 2 + requests / kRequestsAWave;
  const LeftOpen left_open;
  std::int64_t settled_bytes = 0;
  std::int64_t growth_bytes = 0;
  std::int64_t slow_readers = is_tcp() ? 1 : 0;
  for (std::int64_t done = 0; done < waves && !HasFailure(); ++done) {
    if (done % kWavesOfAPool == 0) renew();
    const bool slow = accounts_.sent() >= slow_readers * a_slow_reader;
    slow_readers += slow ? 1 : 0;
    wave(requests * (done + 1) / waves, changes * (done + 1) / waves, slow);
    if (done == waves / 4) settled_bytes = heap_bytes();
    growth_bytes = heap_bytes() - settled_bytes;
  }
  EXPECT_LT(growth_bytes, kMostGrowthBytes);
  close();
  pool_.reset();
  EXPECT_TRUE(left_open.nothing());
  record(growth_bytes);
}

TEST_P(Soak, ClosesUnderLoadWithEveryRequestAccountedFor) {
  const int closes = number_from_environment("POOLPILOT_CLOSES", 10);
  const LeftOpen left_open;
  std::int64_t settled_bytes = 0;
  for (int closed = 0; closed < closes && !HasFailure(); ++closed) {
    LivePoolSettings made = settings();
    made.record_events = true;
    KnobTurner turner(made, random_());
    start(made);
    SoakLoad load(*pool_, connecting_, {.lasting = false}, random_);
    while (load.sent() < 20) std::this_thread::yield();
    for (int i = 0; i < 5; ++i) changes_ += turner.turn(*pool_) ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 10'000));
    close();
    load.stop();
    accounts_.add(load);
    accounts_.expect_agreement(Served());
    for (const EventLog& log : pool_->event_logs()) EXPECT_EQ(replay(log), log.entries.size());
    pool_.reset();
    if (closed == closes / 4) settled_bytes = heap_bytes();
  }
  const std::int64_t growth_bytes = heap_bytes() - settled_bytes;
  EXPECT_LT(growth_bytes, kMostGrowthBytes);
  EXPECT_TRUE(left_open.nothing());
  record(growth_bytes);
  RecordProperty("closes", closes);
}

}  // namespace
}  // namespace poolpilot
