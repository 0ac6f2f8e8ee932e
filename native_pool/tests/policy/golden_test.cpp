// GroupMachine against MariaDB's rules, restated in mariadb_group.hpp: under random events both
// take the same decisions, hold the same state and count the same.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "policy/group_machine.hpp"
#include "tests/environment.hpp"
#include "tests/policy/mariadb_group.hpp"

namespace poolpilot {
namespace {

// How many random events in all; POOLPILOT_GOLDEN_EVENTS sets it.
int event_count() { return number_from_environment("POOLPILOT_GOLDEN_EVENTS", 1'000'000); }

// Drives both with events that a group of real threads could bring.
class Pair {
 public:
  Pair(ThrottlePolicy throttle, std::uint64_t seed) : random_(seed) {
    settings_.throttle = throttle;
    oracle_.percona_throttle = throttle == ThrottlePolicy::kPercona;
    machine_.configure(settings_);
  }

  // One random event; false once the two have differed, with `difference` telling how.
  bool step() {
    now_us_ += one_in(4) ? below(200'000) : below(2'000);
    oracle_.now_us = now_us_;
    oracle_.max_threads_reached = one_in(12);
    oracle_.thread_refused = one_in(20);
    oracle_.done = Spawn::kNone;
    bring_an_event();
    if (one_in(50)) change_settings();
    return difference.empty();
  }

  std::string difference;
  int stalls() const { return static_cast<int>(oracle_.counts.stalls); }
  int throttles() const { return static_cast<int>(oracle_.counts.throttles); }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool one_in(int n) { return below(n) == 0; }

  void bring_an_event() {
    switch (below(13)) {
      case 0:
        return welcome();
      case 1:
        return move_here();
      case 2:
        return leave();
      case 3:
      case 4:
        return begin_wait();
      case 5:
        return end_wait();
      case 6:
        return tick();
      case 7:
      case 8:
        return listener_hears();
      case 9:
        return sleeper_runs_again();
      case 10:
        return sleeper_ends();
      default:
        return worker_is_done();
    }
  }

  void welcome() {
    if (oracle_.connections >= 40) return;
    oracle_.new_connection();
    const Spawn added = apply(EventKind::kConnectionAdded).spawn;
    refuse(added);
    Decision decision = apply(EventKind::kArrived);
    refuse(decision.spawn);
    // The machine may create the first thread at either of its two events.
    if (added != Spawn::kNone && !oracle_.thread_refused) decision.spawn = added;
    compare("new connection", decision, Self::kNone);
  }

  void move_here() {
    if (oracle_.connections >= 40) return;
    oracle_.change_group_to_this();
    compare("moved connection", refused(apply(EventKind::kConnectionAdded)), Self::kNone);
  }

  void leave() {
    // One that a worker serves or that is queued cannot leave.
    if (oracle_.connections <= serving_ + waiting_ + oracle_.queued) return;
    oracle_.connection_gone();
    compare("connection gone", apply(EventKind::kConnectionRemoved), Self::kNone);
  }

  void worker_is_done() {
    if (serving_ + looking() == 0) return;
    if (looking() == 0) --serving_;  // else one that was just created or woken looks first
    Self self = oracle_.get_event();
    const Decision decision = apply(EventKind::kWorkerIdle);
    compare("get_event", decision, self);
    if (self == Self::kPoll) {
      const int found = one_in(2) ? 0 : std::min(1 + below(3), armed());
      self = oracle_.get_event_after_poll(found);
      compare("poll", apply(EventKind::kPolled, found), self);
    }
    if (self == Self::kTake) ++serving_;
  }

  void listener_hears() {
    if (!oracle_.listening || armed() == 0) return;
    const int found = std::min(1 + below(4), armed());
    const Self self = oracle_.listener(found);
    compare("listener", refused(apply(EventKind::kListened, found)), self);
    if (self == Self::kTake) ++serving_;
  }

  void sleeper_runs_again() {
    if (woken_ == 0) return;
    --woken_;
    oracle_.sleeper_was_woken();
    compare("woken", apply(EventKind::kAwake), Self::kNone);
  }

  void sleeper_ends() {
    if (oracle_.sleepers == 0) return;
    const Self self = oracle_.sleeper_timed_out();
    compare("timed out", apply(EventKind::kSleeperLeaves), self);
  }

  void begin_wait() {
    if (serving_ == 0) return;
    --serving_;
    ++waiting_;
    oracle_.wait_begin();
    compare("wait_begin", refused(apply(EventKind::kWaitBegin)), Self::kNone);
  }

  void end_wait() {
    if (waiting_ == 0) return;
    --waiting_;
    ++serving_;
    oracle_.wait_end();
    compare("wait_end", apply(EventKind::kWaitEnd), Self::kNone);
  }

  void tick() {
    if (oracle_.connections == 0) return;  // the timer passes over empty groups
    oracle_.check_stall();
    compare("check_stall", refused(apply(EventKind::kTick)), Self::kNone);
  }

  void change_settings() {
    settings_.oversubscribe = 1 + below(6);
    settings_.timer_interval_ms =
        std::vector{10, 499, 500, 501, 1000, 6000}[static_cast<std::size_t>(below(6))];
    settings_.dedicated_listener = one_in(3);
    machine_.configure(settings_);
    oracle_.oversubscribe = settings_.oversubscribe;
    oracle_.stall_limit_ms = settings_.timer_interval_ms;
    oracle_.dedicated_listener = settings_.dedicated_listener;
  }

  Decision apply(EventKind kind, int n = 0) {
    return machine_.apply({kind, now_us_, n, oracle_.max_threads_reached});
  }

  // The system creates no thread: the machine is told, as the live group tells it.
  void refuse(Spawn spawn) {
    if (spawn == Spawn::kCreate && oracle_.thread_refused) apply(EventKind::kCreateFailed);
  }

  Decision refused(Decision decision) {
    refuse(decision.spawn);
    return decision;
  }

  // Threads that count as active and look for work: all that neither serve nor listen.
  int looking() const { return oracle_.active - serving_; }

  // Connections whose next request may come.
  int armed() const { return oracle_.connections - oracle_.queued - serving_ - waiting_; }

  void compare(const char* where, const Decision& decision, Self self) {
    if (oracle_.done == Spawn::kWake) ++woken_;
    if (decision != Decision{self, oracle_.done}) return differ(where, "the decision");
    oracle_.done = Spawn::kNone;
    const GroupState& state = machine_.state();
    const auto same = [&](const char* what, auto ours, auto theirs) {
      if (ours != theirs) {
        differ(where,
               std::string(what) + " " + std::to_string(ours) + " for " + std::to_string(theirs));
      }
    };
    same("threads", state.thread_count, oracle_.threads);
    same("active", state.active_count, oracle_.active);
    same("sleepers", state.sleeping_count, oracle_.sleepers);
    same("connections", state.connection_count, oracle_.connections);
    same("queued", state.queue_length, oracle_.queued);
    same("listening", state.has_listener, oracle_.listening);
    same("stalled", state.stalled, oracle_.stalled);
    const GroupCounters ours = machine_.counters_at(now_us_);
    same("creations", ours.thread_creations, oracle_.counts.thread_creations);
    same("creations by stalls", ours.thread_creations_stall, oracle_.counts.thread_creations_stall);
    same("wakes", ours.wakes, oracle_.counts.wakes);
    same("wakes by stalls", ours.wakes_stall, oracle_.counts.wakes_stall);
    same("throttles", ours.throttles, oracle_.counts.throttles);
    same("stalls", ours.stalls, oracle_.counts.stalls);
    same("dequeues by the listener", ours.dequeues_listener, oracle_.counts.dequeues_listener);
    same("dequeues by workers", ours.dequeues_worker, oracle_.counts.dequeues_worker);
    same("polls of the listener", ours.polls_listener, oracle_.counts.polls_listener);
    same("polls of workers that found something", ours.polls_worker, oracle_.counts.polls_worker);
  }

  void differ(const char* where, const std::string& what) {
    if (difference.empty()) difference = std::string(where) + ": " + what;
  }

  std::mt19937_64 random_;
  MariaDbGroup oracle_;
  GroupSettings settings_;
  GroupMachine machine_{settings_};
  std::int64_t now_us_ = 1'000'000;
  int serving_ = 0;  // threads that run a request
  int waiting_ = 0;  // threads inside a reported wait
  int woken_ = 0;    // woken, but not yet running
};

class Golden : public testing::TestWithParam<ThrottlePolicy> {};

TEST_P(Golden, EveryDecisionIsMariaDbs) {
  constexpr int kEventsEach = 5'000;
  std::int64_t stalls = 0;
  std::int64_t throttles = 0;
  for (int seed = 0; seed < event_count() / kEventsEach; ++seed) {
    Pair pair(GetParam(), static_cast<std::uint64_t>(seed));
    for (int i = 0; i < kEventsEach; ++i) {
      ASSERT_TRUE(pair.step()) << "seed " << seed << ", event " << i << ": " << pair.difference;
    }
    stalls += pair.stalls();
    throttles += pair.throttles();
  }
  EXPECT_GT(stalls, 0);
  EXPECT_GT(throttles, 0);
}

INSTANTIATE_TEST_SUITE_P(BothTables, Golden,
                         testing::Values(ThrottlePolicy::kMariaDb, ThrottlePolicy::kPercona));

}  // namespace
}  // namespace poolpilot
