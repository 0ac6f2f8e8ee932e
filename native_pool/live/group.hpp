// A thread group of the live server: a GroupMachine with its mutex, queue, epoll and sleepers.
//
// Sleepers. A thread that the machine sends to sleep enters `sleepers_` under the same hold of the
// mutex, and whoever takes one off tells the machine under the same hold too: a wake (which the
// machine asked for), an idle timeout, or the stop. So the list is always as long as the machine's
// sleeping_count, and a wake always finds a sleeper. A sleeper is notified under the mutex, because
// its condition variable lives on its own stack.
//
// Connections. A turn owns its connection from the moment it takes it off the queue until arm() or
// adopt() succeeds; when the system refuses, it owns it still and must close it. EPOLLONESHOT keeps
// the epoll silent about a connection that somebody owns, whether the epoll knows it or not.
//
// Stop. stop() dismisses every sleeper at once and wakes the listener for good. From then on no
// thread falls asleep, listens, takes a request or is created, so nobody can be woken either;
// threads in the middle of a turn end it and leave.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

#include "live/clock.hpp"
#include "live/connection.hpp"
#include "live/descriptor.hpp"
#include "live/executor.hpp"
#include "live/worker_stats.hpp"
#include "policy/group_machine.hpp"
#include "queues/two_level_queue.hpp"

namespace poolpilot {

class Group;

// What a group needs of its server.
class GroupHost {
 public:
  virtual ~GroupHost() = default;
  // Starts a worker of `group`; false when the system or the server refuses.
  virtual bool start_worker(Group& group) = 0;
  virtual bool pool_full() const = 0;
  // One turn of a connection: its requests are run and it is armed again, moved or closed.
  virtual void serve(Connection& connection, WorkerStats& stats) = 0;
  virtual double idle_timeout_s() const = 0;
  virtual std::int64_t prio_kickup_us() const = 0;
};

class Group final : public WaitReporter {
 public:
  Group(GroupHost& host, const GroupSettings& settings) : host_(host), machine_(settings) {}

  // Makes the epoll; does nothing when there is one. Throws std::system_error.
  void open();
  bool is_open() const { return epoll_.valid(); }

  // A new connection: queued before its first read, as a login is.
  void welcome(Connection& connection);
  // Takes over a connection of another group and arms it.
  [[nodiscard]] bool adopt(Connection& connection);
  // Forgets a connection that is about to move or close.
  void remove(Connection& connection);
  // Waits for the connection's next request. The caller must not touch it afterwards, unless the
  // answer is false: then the system refuses, and the caller owns it still.
  [[nodiscard]] bool arm(Connection& connection);

  void work(WorkerStats& stats);
  // The timer: every group hears of every tick, whose clock the queue goes by.
  void tick(std::int64_t now_us);
  void configure(const GroupSettings& settings);
  // Ends the group's threads; safe to call twice.
  void stop();

  void wait_begin() override;
  void wait_end() override;

  GroupState state() const;
  GroupCounters counters() const;
  // Records every event from now on into `log`, which must outlive the group; nullptr ends it.
  void record(EventLog* log);

 private:
  enum class Call : std::uint8_t { kNone, kWake, kLeave };
  struct Sleeper {
    std::condition_variable called;
    Call call = Call::kNone;
  };
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  bool watch(Connection& connection);
  Decision apply(EventKind kind, int n = 0);
  void perform(Spawn spawn);
  Connection* next(Lock& lock);
  Connection* listen(Lock& lock);
  bool sleep(Lock& lock, Clock::time_point deadline);
  void call_first(Call call);
  bool all_sleepers_counted() const;
  int poll(int timeout_ms, Lock* unlock_while_waiting);

  GroupHost& host_;
  mutable std::mutex mutex_;
  GroupMachine machine_;
  TwoLevelQueue<Connection*> queue_;
  std::int64_t tick_us_ = now_ns() / 1'000;  // of the last tick: MariaDB stamps its queue with it
  std::list<Sleeper*> sleepers_;             // last in, first out; as many as the machine counts
  Descriptor epoll_;
  Descriptor stop_event_;
  EventLog* log_ = nullptr;
  bool stopping_ = false;
};

}  // namespace poolpilot
