// An oracle: a thread group as sql/threadpool_generic.cc (MariaDB 10.11 to 12) runs it, restated
// from that file's rules in its own terms (get_event, listener, check_stall, wait_begin) and
// sharing nothing with GroupMachine. The rules it goes by:
//
// * get_event: unless too many threads are active, take from the queue; else, where nobody listens,
//   listen; else, unless too many are active, poll without waiting; else sleep, last in first out.
//   Whoever leaves get_event, with an event or without, ends the group's stall.
// * listener: its events join the queue. It takes the first itself if the queue was empty before
//   (and it is not a dedicated one); else it stays, and where no thread is active it wakes one or,
//   being the only thread, creates one.
// * check_stall: without a listener and without events since the last tick somebody is woken or
//   created, and nothing else is looked at. Else a queue from which nobody has tried to take since
//   the last tick is a stall, and somebody is woken or created.
// * wait_begin: the last active thread that begins a wait has somebody woken or created where work
//   is queued or nobody listens. wait_end asks for nothing.
// * wake_or_create: wake the last sleeper; else not with more threads than connections; else create
//   at once where nobody is active, and otherwise only after the throttle's interval.
// * A creation counts, for counters and throttle alike, once the thread is there.
//
// One counter is kept apart: MariaDB counts every poll of a worker, GroupMachine those that found
// something, which is what the records and models so far have learned from.
#pragma once

#include <algorithm>
#include <cstdint>

#include "policy/group_machine.hpp"

namespace poolpilot {

struct MariaDbGroup {
  // What the rules know.
  int threads = 0;
  int active = 0;
  int sleepers = 0;
  int connections = 0;
  int queued = 0;
  bool listening = false;
  bool stalled = false;
  int io_events = 0;
  int queue_events = 0;
  std::int64_t last_creation_us = 0;
  // What the server is set to.
  int oversubscribe = 3;
  int stall_limit_ms = 500;
  bool dedicated_listener = false;
  bool percona_throttle = false;
  // What it counts.
  GroupCounters counts;
  // Of the event at hand.
  std::int64_t now_us = 0;
  bool max_threads_reached = false;
  bool thread_refused = false;  // the system creates none
  Spawn done = Spawn::kNone;

  // ---- what threads and the server call ----

  void new_connection() {
    ++connections;
    ++queued;
    if (active == 0) wake_or_create(false);
  }

  // A connection of another group moves here.
  void change_group_to_this() {
    ++connections;
    if (threads == 0) create_worker(false);
  }

  void connection_gone() { --connections; }

  // One pass of get_event up to its poll, by a thread that counts as active.
  Self get_event() {
    const bool crowded = too_many_active();
    if (!crowded && queue_get()) {
      ++counts.dequeues_worker;
      return leave_with_event();
    }
    if (!listening) {
      listening = true;
      --active;
      return Self::kListen;
    }
    return crowded ? go_to_sleep() : Self::kPoll;
  }

  // The rest of that pass: the poll has found `found` events.
  Self get_event_after_poll(int found) {
    if (found == 0) return go_to_sleep();
    ++counts.polls_worker;
    queued += found;
    queue_get();
    ++counts.dequeues_worker;
    return leave_with_event();
  }

  // The listener's poll has found `found` events, at least one.
  Self listener(int found) {
    ++counts.polls_listener;
    io_events += found;
    const bool takes_one = queued == 0 && !dedicated_listener;
    queued += found;
    if (takes_one) {
      queue_get();
      ++counts.dequeues_listener;
      ++active;
      listening = false;
      return leave_with_event();
    }
    if (active == 0 && !wake(false) && threads == 1) create_worker(false);
    return Self::kListen;
  }

  void sleeper_was_woken() { ++active; }

  // A sleeper's time is up: it leaves get_event without an event, and ends.
  Self sleeper_timed_out() {
    --sleepers;
    --threads;
    stalled = false;
    return Self::kExit;
  }

  void wait_begin() {
    --active;
    if (active == 0 && (queued > 0 || !listening)) wake_or_create(false);
  }

  void wait_end() { ++active; }

  void check_stall() {
    if (!listening && io_events == 0) {
      wake_or_create(true);
      return;
    }
    io_events = 0;
    if (queued > 0 && queue_events == 0) {
      stalled = true;
      ++counts.stalls;
      wake_or_create(true);
    }
    queue_events = 0;
  }

 private:
  bool too_many_active() const { return active >= 1 + oversubscribe && !stalled; }

  bool queue_get() {
    ++queue_events;
    if (queued == 0) return false;
    --queued;
    return true;
  }

  Self leave_with_event() {
    stalled = false;
    return Self::kTake;
  }

  Self go_to_sleep() {
    --active;
    ++sleepers;
    return Self::kSleep;
  }

  bool wake(bool due_to_stall) {
    if (sleepers == 0) return false;
    --sleepers;
    ++counts.wakes;
    if (due_to_stall) ++counts.wakes_stall;
    done = Spawn::kWake;
    return true;
  }

  void wake_or_create(bool due_to_stall) {
    if (wake(due_to_stall)) return;
    if (threads > connections) return;
    if (active == 0 || now_us - last_creation_us > throttle_us()) {
      create_worker(due_to_stall);
    } else {
      ++counts.throttles;
    }
  }

  void create_worker(bool due_to_stall) {
    if (max_threads_reached && threads >= 2) return;
    done = Spawn::kCreate;
    if (thread_refused) return;
    last_creation_us = now_us;
    ++threads;
    ++active;
    ++counts.thread_creations;
    if (due_to_stall) ++counts.thread_creations_stall;
  }

  std::int64_t throttle_us() const {
    if (percona_throttle) {
      return threads < 4 ? 0 : threads < 8 ? 50'000 : threads < 16 ? 100'000 : 200'000;
    }
    const std::int64_t factor = stall_limit_ms / std::max(500, stall_limit_ms);
    if (threads < 1 + oversubscribe) return 0;
    return factor * (threads < 8 ? 50'000 : threads < 16 ? 100'000 : 20'000);
  }
};

}  // namespace poolpilot
