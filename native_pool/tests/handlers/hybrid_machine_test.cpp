#include "handlers/hybrid_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace poolpilot {
namespace {

using Kind = HybridEventKind;

constexpr HybridSettings kFew{4, 2, 50, 0};
constexpr HybridSettings kSharing{4, 1, 50, 100};

class HybridMachineTest : public testing::Test {
 protected:
  HybridDecision apply(Kind kind, bool owns = false, bool idle = false) {
    return machine.apply({kind, now_us, owns, idle, pools_full});
  }

  HybridDecision tick(double turn_us) {
    HybridEvent event{Kind::kTick, now_us};
    event.turn_us = turn_us;
    return machine.apply(event);
  }

  const HybridState& state() const { return machine.state(); }

  // A new connection, whose first turn is over; says what its thread does next.
  HybridSelf log_in() {
    apply(Kind::kConnectionAdded);
    apply(Kind::kTaken);
    return apply(Kind::kTurnOver).self;
  }

  // Every thread there may be has a connection of its own.
  void let_all_own() {
    for (int i = 0; i < kFew.max_threads; ++i) ASSERT_EQ(log_in(), HybridSelf::kOwn);
    ASSERT_EQ(state().owning_count, kFew.max_threads);
    ASSERT_EQ(state().waiting_count, 0);
  }

  // One connection more, and all are in the epoll.
  void let_all_wait() {
    let_all_own();
    apply(Kind::kConnectionAdded);
    for (int i = 0; i < kFew.max_threads; ++i) {
      ASSERT_EQ(apply(Kind::kTurnOver, true).self, HybridSelf::kWait);
    }
    ASSERT_EQ(state().waiting_count, kFew.max_threads);
  }

  HybridMachine machine{kFew};
  std::int64_t now_us = 0;
  bool pools_full = false;
};

TEST_F(HybridMachineTest, TheFirstConnectionGetsAThreadAndThatOneSomebodyToWaitBesideIt) {
  EXPECT_TRUE(apply(Kind::kConnectionAdded).create);
  EXPECT_TRUE(apply(Kind::kTaken).create);
  EXPECT_EQ(apply(Kind::kTurnOver).self, HybridSelf::kOwn);
  EXPECT_EQ(state().thread_count, 2);
  EXPECT_EQ(state().waiting_count, 1);
}

TEST_F(HybridMachineTest, ThreadsAreAddedWhileTooFewWaitAndThereMayBeMore) {
  for (int i = 0; i < 8; ++i) apply(Kind::kConnectionAdded);
  EXPECT_EQ(state().waiting_count, 2);
  EXPECT_TRUE(apply(Kind::kTaken).create);
  EXPECT_TRUE(apply(Kind::kTaken).create);
  EXPECT_EQ(state().thread_count, 4);
  EXPECT_FALSE(apply(Kind::kTaken).create);
}

TEST_F(HybridMachineTest, OneConnectionMoreThanThreadsShutsTheGate) {
  let_all_own();
  EXPECT_EQ(apply(Kind::kConnectionAdded),
            (HybridDecision{HybridSelf::kNone, false, Gate::kShuts}));
  EXPECT_EQ(apply(Kind::kTurnOver, true), (HybridDecision{HybridSelf::kWait}));
  EXPECT_EQ(machine.counters_at(0).to_own, 4);
  EXPECT_EQ(machine.counters_at(0).to_epoll, 1);
}

TEST_F(HybridMachineTest, AsManyConnectionsAsThreadsOpenItAndEachGoesBackAtItsNextTurn) {
  let_all_wait();
  apply(Kind::kTaken);
  EXPECT_EQ(apply(Kind::kConnectionLeft), (HybridDecision{HybridSelf::kWait, false, Gate::kOpens}));
  EXPECT_EQ(state().owning_count, 0);
  apply(Kind::kTaken);
  EXPECT_EQ(apply(Kind::kTurnOver), (HybridDecision{HybridSelf::kOwn}));
}

TEST_F(HybridMachineTest, WhoOwnsAConnectionThatLeavesWaits) {
  let_all_own();
  EXPECT_EQ(apply(Kind::kConnectionLeft, true), (HybridDecision{HybridSelf::kWait}));
  EXPECT_EQ(state().owning_count, 3);
  EXPECT_EQ(state().waiting_count, 1);
}

TEST_F(HybridMachineTest, ThreadsThatWaitInVainEndDownToTheMinimum) {
  let_all_wait();
  EXPECT_TRUE(machine.has_excess());
  EXPECT_EQ(apply(Kind::kWaitedInVain).self, HybridSelf::kExit);
  EXPECT_EQ(apply(Kind::kWaitedInVain).self, HybridSelf::kExit);
  EXPECT_FALSE(machine.has_excess());
  EXPECT_EQ(apply(Kind::kWaitedInVain).self, HybridSelf::kWait);
  EXPECT_EQ(apply(Kind::kWaitedInVain, false, true).self, HybridSelf::kWait);
  EXPECT_EQ(state().thread_count, 2);
}

TEST_F(HybridMachineTest, WithoutConnectionsTheLastThreadsEndOnceTheyHaveBeenIdle) {
  log_in();
  apply(Kind::kConnectionLeft, true);
  EXPECT_EQ(apply(Kind::kWaitedInVain).self, HybridSelf::kWait);
  EXPECT_EQ(apply(Kind::kWaitedInVain, false, true).self, HybridSelf::kExit);
  EXPECT_EQ(apply(Kind::kWaitedInVain, false, true).self, HybridSelf::kExit);
  EXPECT_EQ(state().thread_count, 0);
}

TEST_F(HybridMachineTest, WhereAllWaitForLocksOneMoreIsCreatedThatStaysTheOnlyOne) {
  let_all_wait();
  for (int i = 0; i < 4; ++i) apply(Kind::kTaken);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(apply(Kind::kLockWaitBegin).create);
  EXPECT_TRUE(apply(Kind::kLockWaitBegin).create);
  EXPECT_EQ(state().thread_count, 5);
  EXPECT_EQ(apply(Kind::kWaitedInVain).self, HybridSelf::kWait);
  apply(Kind::kLockWaitEnd);
  EXPECT_TRUE(machine.has_excess());
  EXPECT_EQ(apply(Kind::kWaitedInVain).self, HybridSelf::kExit);
}

TEST_F(HybridMachineTest, AConnectionForWhichThereIsNoThreadCallsTheOwners) {
  machine = HybridMachine({8, 1, 50});
  log_in();
  log_in();
  apply(Kind::kConnectionAdded);
  EXPECT_TRUE(apply(Kind::kTaken).create);
  EXPECT_EQ(apply(Kind::kCreateFailed).gate, Gate::kStays);  // nobody is in the epoll
  EXPECT_TRUE(apply(Kind::kConnectionAdded).create);
  EXPECT_EQ(apply(Kind::kCreateFailed).gate, Gate::kShuts);
  EXPECT_EQ(apply(Kind::kTurnOver, true), (HybridDecision{HybridSelf::kWait, false, Gate::kOpens}));
  EXPECT_EQ(apply(Kind::kTurnOver, true).self, HybridSelf::kOwn);  // the other stays
}

TEST_F(HybridMachineTest, AThreadThatWasRefusedIsAskedForAgainByTheTick) {
  apply(Kind::kConnectionAdded);
  apply(Kind::kCreateFailed);
  EXPECT_EQ(machine.counters_at(0).thread_creations, 0);
  EXPECT_TRUE(apply(Kind::kTick).create);
  EXPECT_FALSE(apply(Kind::kTick).create);
}

TEST_F(HybridMachineTest, WhereAllPoolsAreFullAPoolGetsItsFirstThreadOnly) {
  pools_full = true;
  EXPECT_TRUE(apply(Kind::kConnectionAdded).create);
  EXPECT_FALSE(apply(Kind::kConnectionAdded).create);
  EXPECT_FALSE(apply(Kind::kTaken).create);
  EXPECT_EQ(apply(Kind::kTurnOver).self, HybridSelf::kWait);  // the other is still in the epoll
}

TEST_F(HybridMachineTest, ShortTurnsShutTheGateAndSeveralAreTakenAtOnce) {
  machine = HybridMachine(kSharing);
  log_in();
  log_in();
  EXPECT_EQ(tick(kSharing.share_below_us / 5.0).gate, Gate::kShuts);
  EXPECT_EQ(state().taken_at_once, 50);  // those that last ten times share_below_us
  EXPECT_EQ(apply(Kind::kTurnOver, true).self, HybridSelf::kWait);
  tick(0.1);
  EXPECT_EQ(state().taken_at_once, HybridState::kMostAtOnce);
}

TEST_F(HybridMachineTest, TurnsMustGetTwiceAsLongForEachToHaveAThreadOfItsOwnAgain) {
  machine = HybridMachine(kSharing);
  log_in();
  log_in();
  EXPECT_EQ(tick(kSharing.share_below_us).gate, Gate::kStays);
  EXPECT_EQ(tick(kSharing.share_below_us - 1.0).gate, Gate::kShuts);
  EXPECT_EQ(tick(2.0 * kSharing.share_below_us - 1.0).gate, Gate::kStays);
  EXPECT_GT(state().taken_at_once, 1);
  EXPECT_EQ(tick(0.0).gate, Gate::kStays);  // no turn has ended
  EXPECT_EQ(tick(2.0 * kSharing.share_below_us).gate, Gate::kOpens);
  EXPECT_EQ(state().taken_at_once, 1);
}

TEST_F(HybridMachineTest, TurnsThatSleepAreNotShortHoweverLittleTheyTake) {
  machine = HybridMachine(kSharing);
  log_in();
  log_in();
  HybridEvent sleepy{Kind::kTick};
  sleepy.turn_us = 1.0;
  sleepy.slept_share = 0.01;
  EXPECT_EQ(machine.apply(sleepy).gate, Gate::kStays);
  EXPECT_EQ(tick(1.0).gate, Gate::kShuts);
  EXPECT_EQ(machine.apply(sleepy).gate, Gate::kOpens);
}

TEST_F(HybridMachineTest, AsManyServeAsAreToWaitOrAsThereAreProcessors) {
  machine = HybridMachine(kSharing);
  EXPECT_FALSE(machine.enough_serve(100));
  tick(1.0);
  EXPECT_TRUE(machine.enough_serve(kSharing.min_waiting));
  EXPECT_FALSE(machine.enough_serve(kSharing.min_waiting - 1));
  machine.set_processors(7);
  EXPECT_FALSE(machine.enough_serve(6));
  EXPECT_TRUE(machine.enough_serve(7));
}

TEST_F(HybridMachineTest, AConnectionThatSharesWithNobodyKeepsItsThread) {
  machine = HybridMachine(kSharing);
  log_in();
  EXPECT_EQ(tick(1.0).gate, Gate::kStays);
  EXPECT_EQ(apply(Kind::kConnectionAdded).gate, Gate::kShuts);
  EXPECT_EQ(apply(Kind::kConnectionLost).gate, Gate::kOpens);
}

TEST_F(HybridMachineTest, WithoutALimitNoTurnIsShort) {
  log_in();
  log_in();
  EXPECT_EQ(tick(0.001).gate, Gate::kStays);
  EXPECT_EQ(state().taken_at_once, 1);
}

TEST_F(HybridMachineTest, ThreadsAreIntegratedOverTime) {
  apply(Kind::kConnectionAdded);
  now_us = 1'000;
  apply(Kind::kTaken);
  EXPECT_EQ(machine.counters_at(3'000).thread_us, 1'000 + 2 * 2'000);
}

TEST(HybridSettings, NoMoreAreToWaitThanThereMayBe) {
  EXPECT_NO_THROW(check(HybridSettings{16, 16, 50, 0}));
  try {
    check(HybridSettings{16, 17, 50, 0});
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "hybrid_min_waiting is 17, but must be in 1..16");
  }
}

// ---- any sequence of events ----

// The rules again, with a record for every thread and connection where the machine has counts.
class RandomPool {
 public:
  explicit RandomPool(unsigned seed)
      : random_(seed),
        settings_{2 + below(6), 1 + below(2), 50, 100 * below(2)},
        machine_(settings_) {}

  void step() {
    switch (below(12)) {
      case 0:
        return add_connection();
      case 1:
        return lose_connection();
      case 2:
      case 3:
      case 4:
        return take();
      case 5:
      case 6:
      case 7:
        return end_turn();
      case 8:
        return leave();
      case 9:
        return wait_in_vain();
      case 10:
        return change_lock_wait();
      default:
        return tick();
    }
  }

  // From any state: nothing but owners that the gate calls, connections that are taken where
  // somebody waits, and leave after their turn. True when nobody is left in the epoll.
  bool drains() {
    for (int i = 0; i < 1'000 && in_epoll_ > 0; ++i) {
      for (Thread& one : threads_) {
        if (one.locked) release(one);
      }
      for (std::size_t t = 0; t < threads_.size(); ++t) {
        if (threads_[t].does == Does::kOwns) turn_over(t);
        if (threads_[t].does == Does::kServes) leave(t);
      }
      if (!take_one()) tick();
    }
    return in_epoll_ == 0;
  }

 private:
  enum class Does { kWaits, kServes, kOwns };
  struct Thread {
    Does does = Does::kWaits;
    bool locked = false;
  };

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  int waiting() const {
    return static_cast<int>(std::ranges::count(threads_, Does::kWaits, &Thread::does));
  }
  int owning() const {
    return static_cast<int>(std::ranges::count(threads_, Does::kOwns, &Thread::does));
  }
  int locked() const {
    return static_cast<int>(std::ranges::count(threads_, true, &Thread::locked));
  }
  int threads() const { return static_cast<int>(threads_.size()); }
  int connections() const { return in_epoll_ + threads() - waiting(); }

  // One of those who do it; threads() when there is none.
  std::size_t some_thread(Does does) {
    std::vector<std::size_t> those;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].does == does && !threads_[t].locked) those.push_back(t);
    }
    return those.empty() ? threads_.size()
                         : those[static_cast<std::size_t>(below(static_cast<int>(those.size())))];
  }

  HybridDecision apply(Kind kind, bool owns = false, bool idle = false) {
    return machine_.apply({kind, 0, owns, idle, false});
  }

  // The machine has the same counts, and the gate stands as the rules want it.
  void compare() {
    const HybridState& state = machine_.state();
    ASSERT_EQ(state.thread_count, threads());
    ASSERT_EQ(state.waiting_count, waiting());
    ASSERT_EQ(state.owning_count, owning());
    ASSERT_EQ(state.lock_waiting_count, locked());
    ASSERT_EQ(state.connection_count, connections());
    ASSERT_EQ(state.in_epoll(), in_epoll_);
    const bool forsaken = in_epoll_ > 0 && waiting() == 0;
    const bool share = short_turns_ && connections() > 1;
    ASSERT_EQ(state.gate_open, connections() <= settings_.max_threads && !forsaken && !share);
    ASSERT_EQ(state.taken_at_once > 1, short_turns_);
  }

  // What the machine says of a new thread must be what the rules want; the system refuses some.
  void create(const HybridDecision& decision, bool wanted) {
    ASSERT_EQ(decision.create, wanted);
    if (decision.create && below(4) == 0) {
      apply(Kind::kCreateFailed);
    } else if (decision.create) {
      threads_.emplace_back();
    }
    compare();
  }

  bool too_few_wait() const {
    const int least = short_turns_ ? 1 : settings_.min_waiting;
    return waiting() < least && threads() < settings_.max_threads;
  }
  bool all_locked() const { return threads() > 0 && locked() == threads(); }

  void add_connection() {
    ++in_epoll_;
    const bool wanted = too_few_wait();
    create(apply(Kind::kConnectionAdded), wanted);
  }

  void lose_connection() {
    if (in_epoll_ == 0) return;
    --in_epoll_;
    apply(Kind::kConnectionLost);
    compare();
  }

  void take() { take_one(); }

  bool take_one() {
    const std::size_t t = some_thread(Does::kWaits);
    if (in_epoll_ == 0 || t == threads_.size()) return false;
    --in_epoll_;
    threads_[t].does = Does::kServes;
    const bool wanted = too_few_wait();
    create(apply(Kind::kTaken), wanted);
    return true;
  }

  void end_turn() {
    const std::size_t t = some_thread(below(2) == 0 ? Does::kServes : Does::kOwns);
    if (t < threads_.size()) turn_over(t);
  }

  void turn_over(std::size_t t) {
    if (threads_[t].does == Does::kWaits || threads_[t].locked) return;
    const bool keeps = machine_.state().gate_open;
    const HybridDecision decision = apply(Kind::kTurnOver, threads_[t].does == Does::kOwns);
    ASSERT_EQ(decision.self, keeps ? HybridSelf::kOwn : HybridSelf::kWait);
    threads_[t].does = keeps ? Does::kOwns : Does::kWaits;
    if (!keeps) ++in_epoll_;
    compare();
  }

  void leave() {
    const std::size_t t = some_thread(below(2) == 0 ? Does::kServes : Does::kOwns);
    if (t < threads_.size()) leave(t);
  }

  void leave(std::size_t t) {
    const bool owns = threads_[t].does == Does::kOwns;
    threads_[t].does = Does::kWaits;
    ASSERT_EQ(apply(Kind::kConnectionLeft, owns).self, HybridSelf::kWait);
    compare();
  }

  void wait_in_vain() {
    const std::size_t t = some_thread(Does::kWaits);
    if (t == threads_.size()) return;
    const bool idle = below(2) == 0;
    const bool extra = threads() > settings_.max_threads && threads() - locked() > 1;
    const int most = short_turns_ ? settings_.min_waiting + 1 : settings_.min_waiting;
    const bool excess = waiting() > most || extra;
    const bool ends = excess || (idle && connections() == 0);
    ASSERT_EQ(apply(Kind::kWaitedInVain, false, idle).self,
              ends ? HybridSelf::kExit : HybridSelf::kWait);
    if (ends) threads_.erase(threads_.begin() + static_cast<std::ptrdiff_t>(t));
    compare();
  }

  void change_lock_wait() {
    for (Thread& one : threads_) {
      if (one.does == Does::kWaits || below(2) == 0) continue;
      if (one.locked) return release(one);
      one.locked = true;
      const bool wanted = all_locked();
      return create(apply(Kind::kLockWaitBegin), wanted);
    }
  }

  void release(Thread& one) {
    one.locked = false;
    apply(Kind::kLockWaitEnd);
    compare();
  }

  void tick() {
    const bool forsaken = in_epoll_ > 0 && waiting() == 0 && threads() < settings_.max_threads;
    const bool wanted = forsaken || all_locked();
    HybridEvent event{Kind::kTick};
    event.turn_us = 50.0 * below(6);
    event.slept_share = 0.001 * below(6);
    if (event.turn_us > 0.0) {
      const double slack = short_turns_ ? 2.0 : 1.0;
      short_turns_ =
          event.turn_us < settings_.share_below_us * slack && event.slept_share <= 0.002 * slack;
    }
    create(machine_.apply(event), wanted);
  }

  std::mt19937 random_;
  HybridSettings settings_;
  HybridMachine machine_;
  std::vector<Thread> threads_;
  int in_epoll_ = 0;
  bool short_turns_ = false;
};

TEST(HybridMachineProperty, CountsGateAndThreadsAreTheRulesAndNobodyIsForgotten) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomPool pool(seed);
    for (int i = 0; i < 400; ++i) {
      pool.step();
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(pool.drains());
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace poolpilot
