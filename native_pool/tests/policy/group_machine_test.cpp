#include "policy/group_machine.hpp"

#include <gtest/gtest.h>

#include <random>

namespace poolpilot {
namespace {

constexpr Decision kNothing{};

class GroupMachineTest : public testing::Test {
 protected:
  Decision apply(EventKind kind, int n = 0) { return machine.apply({kind, now_us, n, pool_full}); }

  Decision tick() {
    now_us += 500'000;
    return apply(EventKind::kTick);
  }

  // A group with `connections` connections whose only thread listens.
  void listen(int connections) {
    EXPECT_EQ(apply(EventKind::kConnectionAdded), (Decision{Self::kNone, Spawn::kCreate}));
    for (int i = 1; i < connections; ++i) apply(EventKind::kConnectionAdded);
    EXPECT_EQ(apply(EventKind::kWorkerIdle), (Decision{Self::kListen, Spawn::kNone}));
  }

  // The listener takes an event; another thread, created by the timer, listens and queues more.
  void one_busy_one_listening() {
    listen(8);
    EXPECT_EQ(apply(EventKind::kListened, 1).self, Self::kTake);
    tick();
    EXPECT_EQ(tick().spawn, Spawn::kCreate);
    EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kListen);
  }

  // A request waits for a thread that the throttle may refuse.
  void one_waits_for_the_busy_one() {
    one_busy_one_listening();
    GroupSettings settings;
    settings.oversubscribe = 1;
    machine.configure(settings);
    apply(EventKind::kTick);
    apply(EventKind::kArrived);
  }

  GroupMachine machine{GroupSettings{}};
  std::int64_t now_us = 0;
  bool pool_full = false;
};

TEST_F(GroupMachineTest, ListenerWithEmptyQueuePicksTheFirstEventItself) {
  listen(4);
  EXPECT_EQ(apply(EventKind::kListened, 3), (Decision{Self::kTake, Spawn::kNone}));
  EXPECT_FALSE(machine.state().has_listener);
  EXPECT_EQ(machine.state().queue_length, 2);
  EXPECT_EQ(machine.state().active_count, 1);
}

TEST_F(GroupMachineTest, DedicatedListenerNeverPicksAndCreatesTheFirstWorker) {
  GroupSettings settings;
  settings.dedicated_listener = true;
  machine.configure(settings);
  listen(4);
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kListen, Spawn::kCreate}));
}

TEST_F(GroupMachineTest, ListenerWithFullQueueWakesNobodyWhileAWorkerIsActive) {
  one_busy_one_listening();
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kTake, Spawn::kNone}));
}

TEST_F(GroupMachineTest, WorkerPollsOnceThenSleeps) {
  one_busy_one_listening();
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kPoll);
  EXPECT_EQ(apply(EventKind::kPolled, 0).self, Self::kSleep);
  EXPECT_EQ(machine.state().sleeping_count, 1);
  EXPECT_EQ(machine.state().active_count, 0);
}

TEST_F(GroupMachineTest, PolledEventsAreQueuedAndOneIsTaken) {
  one_busy_one_listening();
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kPoll);
  EXPECT_EQ(apply(EventKind::kPolled, 3).self, Self::kTake);
  EXPECT_EQ(machine.state().queue_length, 2);
}

TEST_F(GroupMachineTest, OversubscribedWorkerLeavesTheQueueAlone) {
  GroupSettings settings;
  settings.oversubscribe = 1;
  machine.configure(settings);
  listen(8);
  apply(EventKind::kListened, 3);  // one active, two queued, no listener
  tick();
  EXPECT_EQ(tick().spawn, Spawn::kCreate);  // a second active thread
  // active == 1 + oversubscribe and not stalled: it must not take the queued request, but listen.
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kListen);
}

TEST_F(GroupMachineTest, StalledGroupIsNotOversubscribedUntilAnEventIsTaken) {
  one_busy_one_listening();
  GroupSettings settings;
  settings.oversubscribe = 1;
  machine.configure(settings);
  tick();  // clears the counts of the set-up
  apply(EventKind::kConnectionAdded);
  apply(EventKind::kArrived);  // queue of one
  EXPECT_EQ(tick().spawn, Spawn::kCreate);
  EXPECT_TRUE(machine.state().stalled);
  EXPECT_EQ(machine.counters_at(now_us).stalls, 1);
  EXPECT_EQ(machine.state().active_count, 2);
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kTake);
  EXPECT_FALSE(machine.state().stalled);
}

TEST_F(GroupMachineTest, TickWithoutListenerAndEventsDoesNothingElse) {
  listen(4);
  apply(EventKind::kListened, 2);  // the listener works now; one event is queued
  EXPECT_EQ(tick(), kNothing);     // an event came since the last tick
  EXPECT_EQ(tick().spawn, Spawn::kCreate);
  EXPECT_FALSE(machine.state().stalled);  // the first rule returns before the stall check
}

TEST_F(GroupMachineTest, WaitOfTheLastActiveThreadCreatesAReplacement) {
  listen(4);
  apply(EventKind::kListened, 1);
  EXPECT_EQ(apply(EventKind::kWaitBegin), (Decision{Self::kNone, Spawn::kCreate}));
  EXPECT_EQ(apply(EventKind::kWaitEnd), kNothing);
  EXPECT_EQ(machine.state().active_count, 2);
}

TEST_F(GroupMachineTest, CreateThreadOnWaitCanBeSwitchedOff) {
  GroupSettings settings;
  settings.create_thread_on_wait = false;
  machine.configure(settings);
  listen(4);
  apply(EventKind::kListened, 1);
  EXPECT_EQ(apply(EventKind::kWaitBegin), kNothing);
}

TEST_F(GroupMachineTest, SleepersAreWokenBeforeThreadsAreCreated) {
  one_busy_one_listening();
  apply(EventKind::kWorkerIdle);
  apply(EventKind::kPolled, 0);  // now asleep; nobody is active
  apply(EventKind::kConnectionAdded);
  EXPECT_EQ(apply(EventKind::kArrived), (Decision{Self::kNone, Spawn::kWake}));
  EXPECT_EQ(machine.state().active_count, 0);  // it counts once it runs
  EXPECT_EQ(apply(EventKind::kAwake), kNothing);
  EXPECT_EQ(machine.state().active_count, 1);
}

TEST_F(GroupMachineTest, SleeperLeavesAfterItsTimeout) {
  one_busy_one_listening();
  apply(EventKind::kWorkerIdle);
  apply(EventKind::kPolled, 0);
  EXPECT_EQ(apply(EventKind::kSleeperLeaves).self, Self::kExit);
  EXPECT_EQ(machine.state().thread_count, 1);
}

TEST_F(GroupMachineTest, NeverMoreThreadsThanConnectionsPlusOne) {
  listen(1);
  apply(EventKind::kListened, 1);
  int created = 0;
  for (int i = 0; i < 10; ++i) {
    if (tick().spawn == Spawn::kCreate) ++created;
  }
  EXPECT_EQ(created, 1);  // the second thread exceeds the one connection; a third is refused
}

TEST_F(GroupMachineTest, CreationAboveTheWakeTopLimitIsThrottled) {
  one_waits_for_the_busy_one();
  now_us += 49'000;
  EXPECT_EQ(apply(EventKind::kTick).spawn, Spawn::kNone);
  EXPECT_EQ(machine.counters_at(now_us).throttles, 1);
  now_us += 2'000;
  EXPECT_EQ(apply(EventKind::kTick).spawn, Spawn::kCreate);
}

TEST_F(GroupMachineTest, FullPoolStillGivesAGroupTwoThreads) {
  pool_full = true;
  listen(8);
  apply(EventKind::kListened, 3);
  tick();
  EXPECT_EQ(tick().spawn, Spawn::kCreate);
  EXPECT_EQ(machine.state().thread_count, 2);
  tick();
  EXPECT_EQ(tick().spawn, Spawn::kNone);
}

TEST_F(GroupMachineTest, FailedCreationIsTakenBack) {
  EXPECT_EQ(apply(EventKind::kConnectionAdded).spawn, Spawn::kCreate);
  apply(EventKind::kCreateFailed);
  EXPECT_EQ(machine.state().thread_count, 0);
  EXPECT_EQ(machine.state().active_count, 0);
  EXPECT_EQ(machine.counters_at(now_us).thread_creations, 0);
  EXPECT_EQ(tick().spawn, Spawn::kCreate);
  apply(EventKind::kCreateFailed);
  EXPECT_EQ(machine.counters_at(now_us).thread_creations_stall, 0);
}

TEST_F(GroupMachineTest, FailedCreationThrottlesNobody) {
  one_waits_for_the_busy_one();
  now_us += 51'000;
  EXPECT_EQ(apply(EventKind::kTick).spawn, Spawn::kCreate);
  apply(EventKind::kCreateFailed);
  now_us += 1;
  EXPECT_EQ(apply(EventKind::kTick).spawn, Spawn::kCreate);
  EXPECT_EQ(machine.counters_at(now_us).throttles, 0);
}

TEST_F(GroupMachineTest, LimitsOfTheSeedWidenWhoIsWoken) {
  GroupSettings settings;
  settings.queue_put_limit = 1;
  machine.configure(settings);
  listen(8);
  apply(EventKind::kListened, 1);
  now_us += 1;
  EXPECT_EQ(apply(EventKind::kArrived).spawn, Spawn::kCreate);  // one active thread <= the limit
}

TEST_F(GroupMachineTest, TheWakeTopLimitCanForbidCreationInsteadOfThrottlingIt) {
  one_waits_for_the_busy_one();
  GroupSettings settings = machine.settings();
  settings.above_wake_top = AboveWakeTop::kForbidden;
  machine.configure(settings);
  now_us += 60'000'000;
  EXPECT_EQ(apply(EventKind::kTick).spawn, Spawn::kNone);
  EXPECT_EQ(machine.counters_at(now_us).throttles, 1);
  settings.wake_top_limit = 1;
  machine.configure(settings);
  now_us += 1;
  EXPECT_EQ(apply(EventKind::kTick).spawn, Spawn::kCreate);
}

// Or a group whose only thread listens, and is not to do anything else, would never serve.
TEST_F(GroupMachineTest, NoWakeTopLimitForbidsCreationWhileNobodyIsActive) {
  listen(8);
  GroupSettings settings;
  settings.dedicated_listener = true;
  settings.wake_top_limit = settings.queue_put_limit = -1;
  settings.listener_wake_limit = settings.listener_create_limit = -1;
  settings.above_wake_top = AboveWakeTop::kForbidden;
  machine.configure(settings);
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kListen, Spawn::kNone}));
  now_us += 60'000'000;
  tick();
  EXPECT_EQ(tick().spawn, Spawn::kCreate);
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kTake);
}

TEST_F(GroupMachineTest, TheListenerWakesWhileNoMoreThanItsLimitAreActive) {
  one_busy_one_listening();
  apply(EventKind::kArrived);
  tick();
  EXPECT_EQ(tick().spawn, Spawn::kCreate);
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kTake);
  EXPECT_EQ(apply(EventKind::kWorkerIdle).self, Self::kPoll);
  EXPECT_EQ(apply(EventKind::kPolled).self, Self::kSleep);
  GroupSettings settings;
  settings.dedicated_listener = true;
  machine.configure(settings);
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kListen, Spawn::kNone}));
  settings.listener_wake_limit = 1;
  machine.configure(settings);
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kListen, Spawn::kWake}));
}

TEST_F(GroupMachineTest, TheListenerCreatesWhileNoMoreThanItsLimitAreActive) {
  GroupSettings settings;
  settings.dedicated_listener = true;
  settings.listener_create_limit = -1;
  machine.configure(settings);
  listen(8);
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kListen, Spawn::kNone}));
  settings.listener_create_limit = 0;
  machine.configure(settings);
  EXPECT_EQ(apply(EventKind::kListened, 1), (Decision{Self::kListen, Spawn::kCreate}));
}

TEST_F(GroupMachineTest, IntegralsFollowTime) {
  listen(2);
  now_us += 1'000;
  apply(EventKind::kListened, 2);  // one active, one queued from here on
  now_us += 500;
  const GroupCounters counters = machine.counters_at(now_us);
  EXPECT_EQ(counters.thread_us, 1'500);
  EXPECT_EQ(counters.active_thread_us, 500);
  EXPECT_EQ(counters.queue_length_us, 500);
}

TEST(GroupMachineReplay, FindsTheFirstDecisionThatDiffers) {
  EventLog log;
  GroupMachine machine{GroupSettings{}};
  for (const Event event : {Event{EventKind::kConnectionAdded}, Event{EventKind::kWorkerIdle},
                            Event{EventKind::kListened, 10, 1}}) {
    log.entries.push_back({event, machine.apply(event), machine.settings()});
  }
  EXPECT_EQ(replay(log), 3U);
  log.entries[1].decision.self = Self::kSleep;
  EXPECT_EQ(replay(log), 1U);
}

// A simple model of a group's threads drives the machine at random; its counts must stay those of
// the model.
TEST(GroupMachineProperty, CountsAgreeWithAModelOfTheThreads) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    GroupSettings settings;
    settings.oversubscribe = 1 + static_cast<int>(random() % 4);
    settings.timer_interval_ms = random() % 2 == 0 ? 10 : 500;
    GroupMachine machine(settings);
    int idle = 0, busy = 0, waiting = 0, sleeping = 0, woken = 0, queued = 0;
    bool listening = false;
    std::int64_t now_us = 0;
    const auto perform = [&](Spawn spawn) {
      if (spawn == Spawn::kCreate) ++idle;
      if (spawn == Spawn::kWake) --sleeping, ++woken;
    };
    for (int i = 0; i < 8; ++i) perform(machine.apply({EventKind::kConnectionAdded, now_us}).spawn);
    for (int step = 0; step < 2'000; ++step) {
      now_us += static_cast<std::int64_t>(random() % 20'000);
      const auto apply = [&](EventKind kind, int n = 0) {
        const Decision decision = machine.apply({kind, now_us, n});
        perform(decision.spawn);
        return decision.self;
      };
      const auto settle = [&](Self self) {
        if (self == Self::kTake) --idle, ++busy, --queued;
        if (self == Self::kListen) --idle, listening = true;
        if (self == Self::kSleep) --idle, ++sleeping;
      };
      switch (random() % 8) {
        case 0:
          if (idle > 0) {
            Self self = apply(EventKind::kWorkerIdle);
            if (self == Self::kPoll) {
              const int n = static_cast<int>(random() % 3);
              queued += n;
              self = apply(EventKind::kPolled, n);
            }
            settle(self);
          }
          break;
        case 1:
          if (listening) {
            const int n = 1 + static_cast<int>(random() % 3);
            queued += n;
            if (apply(EventKind::kListened, n) == Self::kTake) listening = false, ++busy, --queued;
          }
          break;
        case 2:
          if (busy > 0) --busy, ++idle;
          break;
        case 3:
          if (busy > 0) --busy, ++waiting, apply(EventKind::kWaitBegin);
          break;
        case 4:
          if (waiting > 0) --waiting, ++busy, apply(EventKind::kWaitEnd);
          break;
        case 5:
          apply(EventKind::kTick);
          break;
        case 6:
          if (woken > 0) --woken, ++idle, apply(EventKind::kAwake);
          break;
        default:
          if (sleeping > 0 && random() % 4 == 0) --sleeping, apply(EventKind::kSleeperLeaves);
      }
      const GroupState& state = machine.state();
      ASSERT_EQ(state.active_count, idle + busy) << "seed " << seed << " step " << step;
      ASSERT_EQ(state.queue_length, queued);
      ASSERT_EQ(state.sleeping_count, sleeping);
      ASSERT_EQ(state.has_listener, listening);
      ASSERT_EQ(state.thread_count, idle + busy + waiting + sleeping + woken + listening);
      ASSERT_GE(queued, 0);
    }
  }
}

}  // namespace
}  // namespace poolpilot
