// A thread group under a host of the test's own: what its threads do when it stops.
#include "live/group.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/live/small_pool.hpp"

namespace poolpilot {
namespace {

class GroupTest : public testing::Test, protected GroupHost {
 protected:
  static constexpr std::int64_t kFirstTickUs = 1'000'000'000'000;

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
    take_turn(*connections.back(), std::move(turn));
    group.welcome(*connections.back());
  }

  // Two requests that wait at once leave three threads: one listens and two sleep.
  void leave_two_sleepers() {
    std::latch both_wait(2);
    for (int i = 0; i < 2; ++i) {
      serve_once([&] {
        group.wait_begin(WaitKind::kSleep);
        both_wait.arrive_and_wait();
        group.wait_end(WaitKind::kSleep);
      });
    }
    ASSERT_TRUE(eventually([this] {
      const GroupState state = group.state();
      return state.has_listener && state.sleeping_count == 2;
    }));
  }

  std::int64_t wakes() const { return group.counters().wakes; }

  // Called under the group's mutex, which guards `workers`. A batch thread that is woken does not
  // push its waker off the processor: else, on a busy machine, nobody would be woken in vain.
  bool start_worker(Group& one) override {
    workers.emplace_back([this, &one] {
      const sched_param none{};
      sched_setscheduler(0, SCHED_BATCH, &none);
      one.work(stats);
      ++ended;
    });
    return true;
  }
  bool pool_full() const override { return false; }
  void serve(Connection& connection, WorkerStats&) override { turn_of(connection)(); }
  bool hangs_up_at_once() const override { return true; }
  void hang_up(Connection& connection) override { turn_of(connection)(); }
  double idle_timeout_s() const override { return idle_s; }
  std::int64_t wait_timeout_us() const override { return 100'000; }

  void take_turn(const Connection& connection, std::function<void()> turn) {
    const std::scoped_lock lock(turns_mutex);
    turns[&connection] = std::move(turn);
  }

  std::function<void()> turn_of(const Connection& connection) {
    const std::scoped_lock lock(turns_mutex);
    return turns.at(&connection);
  }

  // A connection that the epoll watches and finds ready at once; its only turn is `turn`.
  void send_request(std::function<void()> turn) {
    watch(Descriptor(eventfd(1, EFD_NONBLOCK)), std::move(turn));
  }

  void watch(Descriptor socket, std::function<void()> turn) {
    sockets.push_back(std::move(socket));
    connections.push_back(std::make_unique<Connection>(sockets.back().get(), connections.size()));
    connections.back()->fresh = false;
    take_turn(*connections.back(), std::move(turn));
    ASSERT_TRUE(group.adopt(*connections.back()));
  }

  // One thread is at work, two sleep, and the listener leaves what it hears to the one at work.
  void be_busy_from_the_first_tick_until(std::latch& go_on) {
    leave_two_sleepers();
    knobs.group.dedicated_listener = true;
    group.configure(PoolTuple{}, knobs);
    group.tick(kFirstTickUs);
    serve_once([this, &go_on] {
      busy.count_down();
      go_on.wait();
    });
    busy.wait();
  }

  // A request of low priority waits in the queue from one tick to another, before a request of high
  // priority that comes after both. Says which of them is served first.
  std::string first_after_a_tick_of(std::int64_t later_us) {
    std::latch go_on(1);
    be_busy_from_the_first_tick_until(go_on);
    std::string first;
    const auto served = [&](const char* name) { return [&first, name] { first += name; }; };
    send_request(served("low "));
    EXPECT_TRUE(eventually([this] { return group.state().queue_length == 1; }));
    group.tick(kFirstTickUs + later_us);
    serve_once(served("high "));
    go_on.count_down();
    EXPECT_TRUE(eventually([this] { return group.state().queue_length == 0; }));
    group.stop();
    EXPECT_TRUE(eventually([this] { return ended == 3; }));
    return first;
  }

  // A tick comes when a connection has been silent for so long and a request of low priority waits
  // for a thread. Says what is served, in order.
  std::string served_after_a_silence_of(std::int64_t silent_us) {
    std::latch go_on(1);
    be_busy_from_the_first_tick_until(go_on);
    std::string all;
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    const Descriptor client(ends[1]);
    watch(Descriptor(ends[0]), [&] { all += "silent "; });
    const Connection& silent_one = *connections.back();
    send_request([&] { all += "low "; });
    EXPECT_TRUE(eventually([this] { return group.state().queue_length == 1; }));
    group.tick(kFirstTickUs + silent_us);
    const int waiting = silent_one.timed_out ? 2 : 1;
    EXPECT_TRUE(eventually([&] { return group.state().queue_length == waiting; }));
    go_on.count_down();
    EXPECT_TRUE(eventually([this] { return group.state().queue_length == 0; }));
    group.stop();
    EXPECT_TRUE(eventually([this] { return ended == 3; }));
    return all;
  }

  EventLog log;
  std::mutex stats_mutex;
  TimingSums timings{0};
  WorkerStats stats{stats_mutex, timings};
  double idle_s = 60.0;
  PoolKnobs knobs;
  std::latch busy{1};
  std::vector<std::thread> workers;
  std::atomic<int> ended{0};
  std::vector<Descriptor> sockets;
  std::vector<std::unique_ptr<Connection>> connections;
  std::mutex turns_mutex;
  std::map<const Connection*, std::function<void()>> turns;  // guarded by turns_mutex
  Group group{*this, QueueSettings{}, 0};
};

TEST_F(GroupTest, ARequestThatWaitsAfterTheStopWakesNobody) {
  leave_two_sleepers();
  std::latch started(1);
  std::latch go_on(1);
  serve_once([&] {
    started.count_down();
    go_on.wait();
    group.wait_begin(WaitKind::kSleep);
    group.wait_end(WaitKind::kSleep);
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

// MariaDB stamps its queue with the clock of the last tick.
TEST_F(GroupTest, ARequestIsKickedUpByTheClockOfTheTicks) {
  EXPECT_EQ(first_after_a_tick_of(1'000'001), "low high ");
}

TEST_F(GroupTest, ARequestIsNotKickedUpBeforeItsTimeIsOver) {
  EXPECT_EQ(first_after_a_tick_of(1'000'000), "high low ");
}

TEST_F(GroupTest, TheKickUpTimeChangesWhileServing) {
  knobs.prio_kickup_ms = 2'000;
  EXPECT_EQ(first_after_a_tick_of(1'000'001), "high low ");
}

// As in MariaDB: a tick ends who is over the time-out by more than the interval.
TEST_F(GroupTest, ASilentConnectionIsEndedBeforeOthersAreServed) {
  EXPECT_EQ(served_after_a_silence_of(500'000 + 100'000 + 1), "silent low ");
}

TEST_F(GroupTest, AConnectionIsNotEndedBeforeItsTimeIsOver) {
  EXPECT_EQ(served_after_a_silence_of(500'000 + 100'000), "low ");
}

// A group may create no more threads than it has connections; guests are some.
TEST_F(GroupTest, GuestsThatWaitForOneAnotherGetThreads) {
  std::atomic<int> come{0};
  const auto waits_for_all = [&come] {
    ++come;
    EXPECT_TRUE(eventually([&come] { return come == 3; }));
  };
  for (int i = 0; i < 3; ++i) {
    connections.push_back(std::make_unique<Connection>(-1, connections.size()));
    take_turn(*connections.back(), waits_for_all);
    group.requeue(*connections.back());
  }
  std::int64_t tick_us = kFirstTickUs;
  EXPECT_TRUE(eventually([&] {
    group.tick(tick_us += 10'000);
    return come == 3;
  }));
  EXPECT_TRUE(eventually([this] { return group.state().connection_count == 0; }));
}

// The thread at work has the same sleeper woken again and again, which is too many for one request.
TEST_F(GroupTest, AThreadThatIsOnlyWokenInVainEnds) {
  idle_s = 0.1;
  leave_two_sleepers();
  PoolTuple tuple;
  tuple.oversubscribe = 1;
  group.configure(tuple, knobs);
  std::atomic<int> ended_meanwhile{0};
  std::latch over(1);
  serve_once([&] {
    for (int i = 0; i < 500 && ended < 2; ++i) {
      if (group.state().queue_length == 0) serve_once([] {});  // a reason to wake somebody
      group.wait_begin(WaitKind::kSleep);
      group.wait_end(WaitKind::kSleep);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ended_meanwhile = ended.load();
    over.count_down();
  });
  over.wait();
  EXPECT_GE(ended_meanwhile, 2);
}

}  // namespace
}  // namespace poolpilot
