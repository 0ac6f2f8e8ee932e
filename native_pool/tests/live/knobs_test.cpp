// Knobs besides the tuple, set while a pool serves.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/settings/setting_number.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot {
namespace {

class LiveKnobsTest : public testing::Test {
 protected:
  void start(const LivePoolSettings& settings) {
    pool = std::make_unique<LivePool>(settings);
    pool->start();
    for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<LiveClient>(pool->address()));
  }

  template <typename Change>
  void set(Change change) {
    PoolKnobs knobs = pool->knobs();
    change(knobs);
    pool->set_knobs(knobs);
  }

  // Most threads while every client waits, as the pool is told; looks until there are enough.
  double threads_while_all_wait(double enough = 0.0, std::uint32_t wait_us = 100'000) {
    for (const auto& one : clients) one->send_request(1, {reported(wait_us)});
    double most = 0.0;
    EXPECT_TRUE(eventually([&] { return (most = std::max(most, gauge("threads"))) >= enough; }));
    for (const auto& one : clients) {
      most = std::max(most, gauge("threads"));
      EXPECT_TRUE(one->read().has_value());
    }
    return most;
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }
  double gauge(const std::string& name) { return pool->snapshot().gauges.at(name); }

  std::unique_ptr<LivePool> pool;
  std::vector<std::unique_ptr<LiveClient>> clients;
};

LivePoolSettings one_group() {
  LivePoolSettings settings = small_pool();
  settings.tuple.pool_size = 1;
  settings.tuple.idle_timeout_s = 0.01;
  return settings;
}

TEST_F(LiveKnobsTest, MostThreadsHoldFromTheNextCreationOn) {
  LivePoolSettings settings = one_group();
  settings.knobs.max_threads = 2;
  start(settings);
  EXPECT_LE(threads_while_all_wait(), 2);
  set([](PoolKnobs& knobs) { knobs.max_threads = 100; });
  EXPECT_GE(threads_while_all_wait(4.0, 1'000'000), 4);
  set([](PoolKnobs& knobs) { knobs.max_threads = 2; });
  EXPECT_TRUE(eventually([this] { return pool->snapshot().gauges.at("threads") <= 2; }));
  EXPECT_LE(threads_while_all_wait(), 2);
}

TEST_F(LiveKnobsTest, ADedicatedListenerLeavesItsRequestsToOthers) {
  start(one_group());
  for (std::uint64_t id = 1; id <= 20; ++id) clients[0]->call(id, {});
  EXPECT_GT(counter("dequeues_listener"), 0);
  set([](PoolKnobs& knobs) { knobs.group.dedicated_listener = true; });
  clients[0]->call(21, {});  // the listener may have looked before
  const double before = counter("dequeues_listener");
  for (std::uint64_t id = 22; id <= 40; ++id) clients[0]->call(id, {});
  EXPECT_EQ(counter("dequeues_listener"), before);
}

// What the settings do to decisions, the tests of the group machine show; here they arrive.
TEST_F(LiveKnobsTest, EveryKnobOfAGroupIsInForceAtItsNextDecision) {
  for (const SettingField<GroupSettings>& field : GroupSettings::fields()) {
    clients.clear();
    start(one_group());
    clients[0]->call(1, {});
    GroupSettings wanted = pool->knobs().group;
    put_number(wanted, field, field.value_in(wanted) == 1.0 ? 0.0 : 1.0);
    set([&](PoolKnobs& knobs) { knobs.group = wanted; });
    EXPECT_EQ(field.value_in(pool->knobs().group), field.value_in(wanted)) << field.name;
    clients[0]->call(2, {});
    pool->close();
    const EventLog& log = pool->event_logs().front();
    EXPECT_NE(field.value_in(log.entries.front().settings), field.value_in(wanted)) << field.name;
    EXPECT_EQ(field.value_in(log.entries.back().settings), field.value_in(wanted)) << field.name;
    EXPECT_EQ(replay(log), log.entries.size());
  }
}

TEST_F(LiveKnobsTest, AnAdmissionLimitHoldsFromTheNextTransactionOn) {
  start(one_group());
  set([](PoolKnobs& knobs) { knobs.admission.admission_limit = 1; });
  EXPECT_EQ(clients[0]->call(1, {begin()}).value().status, Status::kOk);
  clients[1]->send_request(1, {cpu(1)});
  EXPECT_TRUE(eventually([this] { return gauge("admission_waiting") == 1; }));
  set([](PoolKnobs& knobs) { knobs.max_threads = 100; });  // another knob leaves it alone
  EXPECT_EQ(gauge("admission_waiting"), 1);
  set([](PoolKnobs& knobs) { knobs.admission.admission_limit = 0; });
  EXPECT_EQ(clients[1]->read().value().status, Status::kOk);
  pool->close();
  const EventLog& log = pool->event_logs().front();
  EXPECT_EQ(replay(log), log.entries.size());
}

TEST_F(LiveKnobsTest, AKnobOutOfItsRangeLeavesTheOldOnes) {
  start(one_group());
  const PoolKnobs before = pool->knobs();
  EXPECT_THROW(set([](PoolKnobs& knobs) {
                 knobs.admission.admission_limit = 1;
                 knobs.max_threads = 1;
               }),
               std::invalid_argument);
  EXPECT_EQ(gauge("admission_limit"), 0);
  EXPECT_THROW(set([](PoolKnobs& knobs) { knobs.max_threads = 1; }), std::invalid_argument);
  EXPECT_THROW(set([](PoolKnobs& knobs) { knobs.weights = {0.5, 0.5}; }), std::invalid_argument);
  EXPECT_EQ(pool->knobs(), before);
}

TEST_F(LiveKnobsTest, AClosedPoolTakesNone) {
  start(one_group());
  const PoolKnobs knobs = pool->knobs();
  pool->close();
  EXPECT_THROW(pool->set_knobs(knobs), std::logic_error);
  EXPECT_THROW(pool->knobs(), std::logic_error);
}

// With one inside, a group needs one thread at a time for requests that only wait.
TEST(SimulatedKnobs, AnAdmissionLimitIsSeenInTheDecisions) {
  const auto creations = [](int limit) {
    const sim::SimulationSettings settings =
        sim::settings_of({sim::class_of("all", {sim::wait(1'000, true)})}, 8);
    sim::SimulatedPool pool(settings);
    PoolKnobs knobs = pool.knobs();
    knobs.admission.admission_limit = limit;
    EXPECT_EQ(pool.set_knobs(knobs).admission.admission_limit, limit);
    pool.run({.until_s = 0.2});
    for (const EventLog& log : pool.event_logs()) EXPECT_EQ(replay(log), log.entries.size());
    return sim::counter(pool, "thread_creations");
  };
  EXPECT_LT(creations(1), creations(4));
  EXPECT_LT(creations(4), creations(0));
}

TEST(SimulatedKnobs, MostThreadsHoldFromTheNextCreationOn) {
  sim::SimulationSettings settings =
      sim::settings_of({sim::class_of("all", {sim::wait(1'000, true)})}, 8);
  settings.knobs.max_threads = 2;
  settings.tuple.idle_timeout_s = 0.01;
  sim::SimulatedPool pool(settings);
  const auto most_threads = [&] {
    double most = 0.0;
    for (int i = 0; i < 100; ++i) {
      pool.run({.until_s = pool.now_s() + 0.001});
      most = std::max(most, pool.snapshot().gauges.at("threads"));
    }
    return most;
  };
  EXPECT_LE(most_threads(), 2);
  PoolKnobs knobs = pool.knobs();
  knobs.max_threads = 100;
  pool.set_knobs(knobs);
  EXPECT_GT(most_threads(), 3);
}

}  // namespace
}  // namespace poolpilot
