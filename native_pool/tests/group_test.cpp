// A thread group under a host of the test's own: what its threads do when it stops.
#include "live/group.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "tests/small_pool.hpp"

namespace poolpilot {
namespace {

class GroupTest : public testing::Test, protected GroupHost {
 protected:
  void SetUp() override {
    group.record(&log);
    group.open();
  }

  void TearDown() override {
    group.stop();
    for (std::thread& worker : workers) worker.join();
  }

  // A new connection whose only turn is `turn`.
  void serve_once(std::function<void()> turn) {
    connections.push_back(std::make_unique<Connection>(-1, connections.size()));
    turns[connections.back().get()] = std::move(turn);
    group.welcome(*connections.back());
  }

  // Two requests that wait at once leave three threads: one listens and two sleep.
  void leave_two_sleepers() {
    std::latch both_wait(2);
    for (int i = 0; i < 2; ++i) {
      serve_once([&] {
        group.wait_begin();
        both_wait.arrive_and_wait();
        group.wait_end();
      });
    }
    ASSERT_TRUE(eventually([this] {
      const GroupState state = group.state();
      return state.has_listener && state.sleeping_count == 2;
    }));
  }

  std::int64_t wakes() const { return group.counters().wakes; }

  // Called under the group's mutex, which guards `workers`.
  bool start_worker(Group& one) override {
    workers.emplace_back([this, &one] {
      one.work(stats);
      ++ended;
    });
    return true;
  }
  bool pool_full() const override { return false; }
  void serve(Connection& connection, WorkerStats&) override { turns.at (&connection)(); }
  double idle_timeout_s() const override { return 60.0; }
  std::int64_t prio_kickup_us() const override { return 1'000'000; }

  EventLog log;
  WorkerStats stats;
  std::vector<std::thread> workers;
  std::atomic<int> ended{0};
  std::vector<std::unique_ptr<Connection>> connections;
  std::map<const Connection*, std::function<void()>> turns;
  Group group{*this, GroupSettings{}};
};

TEST_F(GroupTest, ARequestThatWaitsAfterTheStopWakesNobody) {
  leave_two_sleepers();
  std::latch started(1);
  std::latch go_on(1);
  serve_once([&] {
    started.count_down();
    go_on.wait();
    group.wait_begin();
    group.wait_end();
  });
  started.wait();
  serve_once([] { FAIL() << "a stopped group serves nobody"; });  // a reason to wake somebody
  const std::int64_t wakes_before = wakes();
  group.stop();
  ASSERT_TRUE(eventually([this] { return ended == 2; }));  // the listener and the other sleeper
  EXPECT_EQ(group.state().sleeping_count, 0);
  go_on.count_down();
  ASSERT_TRUE(eventually([this] { return ended == 3; }));
  EXPECT_EQ(wakes(), wakes_before);
  EXPECT_EQ(replay(log), log.entries.size());
}

TEST_F(GroupTest, AStopDismissesEverySleeperAtOnce) {
  leave_two_sleepers();
  group.stop();
  EXPECT_EQ(group.state().sleeping_count, 0);
  serve_once([] { FAIL() << "a stopped group serves nobody"; });
  EXPECT_EQ(group.state().queue_length, 1);
  EXPECT_EQ(workers.size(), 3U);
}

TEST_F(GroupTest, AGroupThatStopsCreatesNobody) {
  group.stop();
  serve_once([] { FAIL() << "a stopped group serves nobody"; });
  EXPECT_TRUE(workers.empty());
  EXPECT_EQ(group.state().thread_count, 0);
  EXPECT_EQ(group.counters().thread_creations, 0);
}

}  // namespace
}  // namespace poolpilot
