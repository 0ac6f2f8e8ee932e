// The state machine of one thread group: events in, actions out. No threads, no clock, no sockets.
//
// The stock behaviour is MariaDB's (sql/threadpool_generic.cc). The live server calls it under the
// group's mutex, a simulator from its event loop; a recorded sequence of events replays through
// either to the same decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/group_settings.hpp"

namespace poolpilot {

enum class EventKind : std::uint8_t {
  kConnectionAdded,    // a connection now belongs to the group
  kConnectionRemoved,  // it left
  kArrived,            // one item was put into the queue
  kWorkerIdle,         // an active worker looks for work
  kPolled,             // its non-blocking poll put n items into the queue
  kListened,           // the listener's poll put n items into the queue
  kAwake,              // a woken sleeper runs again
  kSleeperLeaves,      // a sleeper slept for idle_timeout_s, or its group stops
  kWaitBegin,          // a worker reports a wait
  kWaitEnd,            // and its end
  kTick,               // the timer
  kCreateFailed,       // the thread asked for just now could not be created
};

struct Event {
  EventKind kind;
  std::int64_t now_us = 0;
  int n = 0;
  bool pool_full = false;  // the whole pool has reached max_threads
};

// What the thread that brought the event does next.
enum class Self : std::uint8_t { kNone, kTake, kListen, kPoll, kSleep, kExit };

// What it does for the others first.
enum class Spawn : std::uint8_t { kNone, kWake, kCreate };

struct Decision {
  Self self = Self::kNone;
  Spawn spawn = Spawn::kNone;

  bool operator==(const Decision&) const = default;
};

struct GroupCounters {
  std::int64_t thread_creations = 0;
  std::int64_t thread_creations_stall = 0;
  std::int64_t wakes = 0;
  std::int64_t wakes_stall = 0;
  std::int64_t throttles = 0;
  std::int64_t stalls = 0;
  std::int64_t dequeues_listener = 0;
  std::int64_t dequeues_worker = 0;
  std::int64_t polls_listener = 0;
  std::int64_t polls_worker = 0;
  // Integrals over time, in microseconds: a mean over a window is their difference over its length.
  std::int64_t thread_us = 0;
  std::int64_t active_thread_us = 0;
  std::int64_t queue_length_us = 0;
};

struct GroupState {
  int thread_count = 0;
  int active_count = 0;
  int sleeping_count = 0;
  int connection_count = 0;
  int queue_length = 0;
  bool has_listener = false;
  bool stalled = false;
};

// A recorded run: settings in force and every event with the decision it got.
struct EventLog {
  struct Entry {
    Event event;
    Decision decision;
    GroupSettings settings;
  };
  std::vector<Entry> entries;
};

class GroupMachine {
 public:
  explicit GroupMachine(const GroupSettings& settings = {}) : settings_(settings) {}

  Decision apply(const Event& event);
  void configure(const GroupSettings& settings) { settings_ = settings; }
  // Records every event from now on into `log`, which must outlive the machine; nullptr ends it.
  void record(EventLog* log) { log_ = log; }

  const GroupState& state() const { return state_; }
  const GroupSettings& settings() const { return settings_; }
  // Counters with the integrals carried on to `now_us`.
  GroupCounters counters_at(std::int64_t now_us) const;

 private:
  Decision decide(const Event& event);
  Decision worker_idle();
  Decision polled(int n);
  Decision listened(const Event& event);
  Decision tick(const Event& event);
  Decision take(std::int64_t& dequeues);
  Spawn wake_or_create(const Event& event, bool due_to_stall);
  Spawn wake(bool due_to_stall);
  Spawn create(const Event& event, bool due_to_stall);
  void take_back_creation();
  bool oversubscribed() const;

  GroupSettings settings_;
  EventLog* log_ = nullptr;
  GroupState state_;
  GroupCounters counters_;
  std::int64_t integrated_until_us_ = 0;
  std::int64_t last_creation_us_ = 0;
  std::int64_t creation_before_us_ = 0;  // what last_creation_us_ was before the last creation
  bool created_due_to_stall_ = false;    // the last creation
  int io_events_ = 0;                    // polls by the listener since the last tick
  int queue_events_ = 0;                 // dequeue attempts since the last tick
};

// Replays a log through a fresh machine; returns the index of the first decision that differs, or
// the number of entries when all are the same.
std::size_t replay(const EventLog& log);

// How many events all logs hold, and how many of them replay() alike.
template <typename Logs>
std::pair<std::size_t, std::size_t> replay_all(const Logs& logs) {
  std::pair<std::size_t, std::size_t> counts;
  for (const EventLog& log : logs) {
    counts.first += log.entries.size();
    counts.second += replay(log);
  }
  return counts;
}

}  // namespace poolpilot
