#include "policy/group_machine.hpp"

#include <algorithm>
#include <utility>

namespace poolpilot {
namespace {

GroupCounters carried_on(GroupCounters counters, const GroupState& state, std::int64_t span_us) {
  counters.thread_us += state.thread_count * span_us;
  counters.active_thread_us += state.active_count * span_us;
  counters.queue_length_us += state.queue_length * span_us;
  return counters;
}

}  // namespace

GroupCounters GroupMachine::counters_at(std::int64_t now_us) const {
  // Threads stamp their events before they get the mutex, so `now_us` may lie a little in the past.
  if (now_us <= integrated_until_us_) return counters_;
  return carried_on(counters_, state_, now_us - integrated_until_us_);
}

Decision GroupMachine::apply(const Event& event) {
  const Decision decision = decide(event);
  if (log_ != nullptr) log_->entries.push_back({event, decision, settings_});
  return decision;
}

Decision GroupMachine::decide(const Event& event) {
  counters_ = counters_at(event.now_us);
  integrated_until_us_ = std::max(integrated_until_us_, event.now_us);
  switch (event.kind) {
    case EventKind::kConnectionAdded:
      ++state_.connection_count;
      return {Self::kNone, state_.thread_count == 0 ? create(event, false) : Spawn::kNone};
    case EventKind::kConnectionRemoved:
      --state_.connection_count;
      return {};
    case EventKind::kArrived:
      ++state_.queue_length;
      return {Self::kNone, state_.active_count <= settings_.queue_put_limit
                               ? wake_or_create(event, false)
                               : Spawn::kNone};
    case EventKind::kWorkerIdle:
      return worker_idle();
    case EventKind::kPolled:
      return polled(event.n);
    case EventKind::kListened:
      return listened(event);
    case EventKind::kAwake:
      ++state_.active_count;
      return {};
    case EventKind::kSleeperLeaves:
      --state_.sleeping_count;
      --state_.thread_count;
      state_.stalled = false;  // as whoever leaves MariaDB's get_event, with a request or without
      return {Self::kExit, Spawn::kNone};
    case EventKind::kWaitBegin: {
      --state_.active_count;
      const bool may_stall =
          state_.active_count == 0 && (state_.queue_length > 0 || !state_.has_listener);
      return {Self::kNone, settings_.create_thread_on_wait && may_stall
                               ? wake_or_create(event, false)
                               : Spawn::kNone};
    }
    case EventKind::kWaitEnd:
      ++state_.active_count;
      return {};
    case EventKind::kTick:
      return tick(event);
    case EventKind::kCreateFailed:
      take_back_creation();
      return {};
  }
  return {};
}

bool GroupMachine::oversubscribed() const {
  return state_.active_count >= 1 + settings_.oversubscribe && !state_.stalled;
}

Decision GroupMachine::take(std::int64_t& dequeues) {
  --state_.queue_length;
  ++dequeues;
  ++queue_events_;
  state_.stalled = false;
  return {Self::kTake, Spawn::kNone};
}

Decision GroupMachine::worker_idle() {
  const bool may_work = !oversubscribed();
  if (may_work) {
    if (state_.queue_length > 0) return take(counters_.dequeues_worker);
    ++queue_events_;  // an attempt on an empty queue counts: somebody looks after it
  }
  if (!state_.has_listener) {
    state_.has_listener = true;
    --state_.active_count;
    return {Self::kListen, Spawn::kNone};
  }
  if (may_work) return {Self::kPoll, Spawn::kNone};
  return polled(0);
}

Decision GroupMachine::polled(int n) {
  if (n > 0) {
    ++counters_.polls_worker;
    state_.queue_length += n;
    return take(counters_.dequeues_worker);
  }
  --state_.active_count;
  ++state_.sleeping_count;
  return {Self::kSleep, Spawn::kNone};
}

Decision GroupMachine::listened(const Event& event) {
  ++io_events_;
  ++counters_.polls_listener;
  const bool picks = state_.queue_length == 0 && !settings_.dedicated_listener;
  state_.queue_length += event.n;
  if (picks) {
    state_.has_listener = false;
    ++state_.active_count;
    return take(counters_.dequeues_listener);
  }
  Spawn spawn = Spawn::kNone;
  if (state_.active_count <= settings_.listener_wake_limit) spawn = wake(false);
  if (spawn == Spawn::kNone && state_.active_count <= settings_.listener_create_limit &&
      state_.thread_count == 1) {
    spawn = create(event, false);
  }
  return {Self::kListen, spawn};
}

Decision GroupMachine::tick(const Event& event) {
  if (!state_.has_listener && io_events_ == 0) {
    return {Self::kNone, wake_or_create(event, true)};
  }
  io_events_ = 0;
  Spawn spawn = Spawn::kNone;
  if (state_.queue_length > 0 && queue_events_ == 0) {
    state_.stalled = true;
    ++counters_.stalls;
    spawn = wake_or_create(event, true);
  }
  queue_events_ = 0;
  return {Self::kNone, spawn};
}

Spawn GroupMachine::wake_or_create(const Event& event, bool due_to_stall) {
  if (wake(due_to_stall) == Spawn::kWake) return Spawn::kWake;
  if (state_.thread_count > state_.connection_count) return Spawn::kNone;
  if (state_.active_count <= settings_.wake_top_limit) return create(event, due_to_stall);
  // With nobody active it would forbid what no other event brings: the group would never serve.
  if (settings_.above_wake_top == AboveWakeTop::kForbidden && state_.active_count > 0) {
    ++counters_.throttles;
    return Spawn::kNone;
  }
  const std::int64_t interval_us =
      throttle_interval_us(settings_.throttle, state_.thread_count, settings_.oversubscribe,
                           settings_.timer_interval_ms);
  if (event.now_us - last_creation_us_ > interval_us) return create(event, due_to_stall);
  ++counters_.throttles;
  return Spawn::kNone;
}

Spawn GroupMachine::wake(bool due_to_stall) {
  if (state_.sleeping_count == 0) return Spawn::kNone;
  --state_.sleeping_count;
  ++counters_.wakes;
  if (due_to_stall) ++counters_.wakes_stall;
  return Spawn::kWake;
}

Spawn GroupMachine::create(const Event& event, bool due_to_stall) {
  // Two threads a group may exist whatever max_threads says: one to listen and one to work.
  if (event.pool_full && state_.thread_count >= 2) return Spawn::kNone;
  ++state_.thread_count;
  ++state_.active_count;
  creation_before_us_ = std::exchange(last_creation_us_, event.now_us);
  created_due_to_stall_ = due_to_stall;
  ++counters_.thread_creations;
  if (due_to_stall) ++counters_.thread_creations_stall;
  return Spawn::kCreate;
}

// MariaDB counts a creation, and throttles the next, only once the thread is there.
void GroupMachine::take_back_creation() {
  --state_.thread_count;
  --state_.active_count;
  last_creation_us_ = creation_before_us_;
  --counters_.thread_creations;
  if (created_due_to_stall_) --counters_.thread_creations_stall;
}

std::size_t replay(const EventLog& log) {
  if (log.entries.empty()) return 0;
  GroupMachine machine(log.entries.front().settings);
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const EventLog::Entry& entry = log.entries[i];
    machine.configure(entry.settings);
    if (machine.apply(entry.event) != entry.decision) return i;
  }
  return log.entries.size();
}

}  // namespace poolpilot
