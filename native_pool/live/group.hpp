// A thread group of the live server: a GroupMachine with its mutex, queue, epoll and sleepers.
//
// Sleepers. A thread that the machine sends to sleep enters `sleepers_` under the same hold of the
// mutex, and whoever takes one off tells the machine under the same hold too: a wake (which the
// machine asked for), an idle timeout, or the stop. So the list is always as long as the machine's
// sleeping_count, and a wake always finds a sleeper. A sleeper is notified under the mutex, because
// its condition variable lives on its own stack.
//
// Connections. A turn owns its connection from the moment it takes it off the queue until arm() or
// adopt() succeeds; when the system refuses, it owns it still and must close it. The epoll is
// silent about a connection that somebody owns, whether the epoll knows it or not. From arm() until
// a poll queues it an armed connection belongs to the group: only who holds the mutex may touch it,
// and nobody may close it, since only a turn does that. So a tick may shut the socket of one that
// has been silent for too long: the descriptor is certainly open, and certainly the connection's.
// The tick owns it no longer than that. The shut socket is ready like any other, or an epoll_wait
// had found it ready already and its answer waits for the mutex; either way one poll queues it,
// with high priority, and its turn closes it and gives back what it held. What the client sent in
// that moment is not answered, as in MariaDB.
//
// Hang-ups. Whoever polls also owns the connections whose clients are gone, as a turn would, and
// closes them itself, without the mutex and after it has done for the others what the machine says.
// The machine never hears of them as requests; a worker that found nothing else looks again.
//
// Stop. stop() dismisses every sleeper at once and wakes the listener for good. From then on no
// thread falls asleep, listens, takes a request or is created, so nobody can be woken either;
// threads in the middle of a turn end it and leave.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "live/connection.hpp"
#include "live/connection_home.hpp"
#include "live/connection_poll.hpp"
#include "policy/group_machine.hpp"
#include "pool/worker_stats.hpp"
#include "queues/two_level_queue.hpp"

namespace poolpilot {

class Group;

// What a group needs of its pool.
class GroupHost {
 public:
  virtual ~GroupHost() = default;
  // Starts a worker of `group`; false when the system or the pool refuses.
  virtual bool start_worker(Group& group) = 0;
  virtual bool pool_full() const = 0;
  // One turn of a connection: its requests are run and it is armed again, moved or closed.
  virtual void serve(Connection& connection, WorkerStats& stats) = 0;
  // Whether a connection whose client is gone is closed by hang_up(), instead of such a turn.
  virtual bool hangs_up_at_once() const = 0;
  virtual void hang_up(Connection& connection) = 0;
  virtual double idle_timeout_s() const = 0;
  virtual std::int64_t prio_kickup_us() const = 0;
  virtual std::int64_t wait_timeout_us() const = 0;
};

class Group final : public ConnectionHome {
 public:
  Group(GroupHost& host, const GroupSettings& settings) : host_(host), machine_(settings) {}

  // Makes the epoll; does nothing when there is one. Throws std::system_error.
  void open();

  // A new connection: queued before its first read, as a login is.
  void welcome(Connection& connection);
  // Takes over a connection of another group and arms it.
  [[nodiscard]] bool adopt(Connection& connection);
  void remove(Connection& connection) override;
  // Waits for the connection's next request. The caller must not touch it afterwards, unless the
  // answer is false: then the system refuses, and the caller owns it still.
  [[nodiscard]] bool arm(Connection& connection);

  void work(WorkerStats& stats);
  // The timer: every group hears of every tick, whose clock the queue and the deadlines of silent
  // connections go by.
  void tick(std::int64_t now_us);
  void configure(const GroupSettings& settings);
  // Ends the group's threads; safe to call twice.
  void stop();

  void wait_begin(WaitKind kind) override;
  void wait_end(WaitKind kind) override;

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
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add(Connection& connection);
  bool watch(Connection& connection);
  void end_silent_connections();
  Decision apply(EventKind kind, int n = 0);
  void perform(Spawn spawn);
  Connection* next(Lock& lock);
  Connection* listen(Lock& lock);
  bool sleep(Lock& lock, Clock::time_point deadline);
  void call_last(Call call);
  bool all_sleepers_counted() const;
  int poll(int timeout_ms, Lock* unlock_while_waiting, Connection*& gone);
  void hang_up(Connection* gone, Lock& lock);

  GroupHost& host_;
  mutable std::mutex mutex_;
  GroupMachine machine_;
  TwoLevelQueue<Connection*> queue_;
  std::int64_t tick_us_ = 0;                // the last tick, with which MariaDB stamps its queue
  std::vector<Connection*> connections_;    // all that belong to the group, in no order
  std::int64_t next_deadline_us_ = kNever;  // no armed connection has an earlier one
  std::vector<Sleeper*> sleepers_;          // last in, first out; as many as the machine counts
  ConnectionPoll poll_;
  EventLog* log_ = nullptr;
  bool stopping_ = false;
};

}  // namespace poolpilot
