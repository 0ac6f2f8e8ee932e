// A thread group of the live server: a GroupMachine with its mutex, queue, epoll and sleepers.
//
// Sleepers. A thread that the machine sends to sleep enters `sleepers_` under the same hold of the
// mutex, and whoever takes one off tells the machine under the same hold too: a wake (which the
// machine asked for), an idle timeout, or the stop. So the list is always as long as the machine's
// sleeping_count, and a wake always finds a sleeper. A sleeper is notified under the mutex, because
// its condition variable lives on its own stack.
//
// Connections. A turn owns its connection from the moment it takes it off the queue until arm() or
// adopt() succeeds, or until it is parked to wait for admission, from where requeue() queues it;
// when the system refuses to arm it, the turn owns it still and must close it. The epoll is
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
// Guests. Whoever leaves the admission hands its place to the first that waits, and its group
// serves that one, wherever it lives: a place stays where a thread has just come free. Left to
// their own homes, places would gather in a few groups, whose threads are busy, while others have
// none. A guest is a member of its home all the time, which arms it again; for its turn the group
// of the thread is its host, to whom its waits are reported. From its arrival to the end of its
// turn the machine counts it as a connection: it creates no more threads than there are
// connections, and those whose guests all wait for one of its own connections would have no thread
// left for that.
//
// Stop. stop() dismisses every sleeper at once and wakes the listener for good. From then on no
// thread falls asleep, listens, takes a request or is created, so nobody can be woken either;
// threads in the middle of a turn end it and leave.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "live/connection.hpp"
#include "live/connection_home.hpp"
#include "live/connection_poll.hpp"
#include "live/silent_connections.hpp"
#include "policy/group_machine.hpp"
#include "pool/knobs.hpp"
#include "pool/tuple.hpp"
#include "pool/worker_stats.hpp"
#include "queues/request_queues.hpp"

namespace poolpilot {

class Group;

// What a group needs of its pool.
class GroupHost {
 public:
  virtual ~GroupHost() = default;
  // Starts a worker of `group`; false when the system or the pool refuses.
  virtual bool start_worker(Group& group) = 0;
  virtual bool pool_full() const = 0;
  // One turn of a connection: its requests are run and it is armed again, moved, closed or parked.
  virtual void serve(Connection& connection, WorkerStats& stats) = 0;
  // Whether a connection whose client is gone is closed by hang_up(), instead of such a turn.
  virtual bool hangs_up_at_once() const = 0;
  virtual void hang_up(Connection& connection) = 0;
  virtual double idle_timeout_s() const = 0;
  virtual std::int64_t wait_timeout_us() const = 0;
};

class Group final : public ConnectionHome {
 public:
  // `number` tells the draws of its queues from those of other groups.
  Group(GroupHost& host, const QueueSettings& queues, std::uint64_t number)
      : host_(host), queues_(queues, number) {}

  // Makes the epoll; does nothing when there is one. Throws std::system_error.
  void open();

  // A new connection: queued before its first read, as a login is.
  void welcome(Connection& connection);
  // Takes over a connection of another group and arms it.
  [[nodiscard]] bool adopt(Connection& connection);
  void remove(Connection& connection) override;
  void requeue(Connection& connection) override;
  // Waits for the connection's next request. The caller must not touch it afterwards, unless the
  // answer is false: then the system refuses, and the caller owns it still.
  [[nodiscard]] bool arm(Connection& connection);

  void work(WorkerStats& stats);
  // The timer: every group hears of every tick, whose clock the queue and the deadlines of silent
  // connections go by.
  void tick(std::int64_t now_us);
  void configure(const PoolTuple& tuple, const PoolKnobs& knobs);
  // Ends the group's threads; safe to call twice.
  void stop();

  void wait_begin(WaitKind kind) override;
  void wait_end(WaitKind kind) override;

  GroupState state() const;
  GroupCounters counters() const;
  // Requests whose queue no rule has named.
  std::int64_t unmapped_requests() const;
  // Records every event from now on into `log`, which must outlive the group; nullptr ends it.
  void record(EventLog* log);

 private:
  enum class Call : std::uint8_t { kNone, kWake, kLeave };
  struct Sleeper {
    std::condition_variable called;
    Call call = Call::kNone;
  };
  using Lock = std::unique_lock<std::mutex>;
  using Queues = RequestQueues<Connection*>;
  using Clock = std::chrono::steady_clock;

  void add(Connection& connection);
  bool watch(Connection& connection);
  Decision apply(EventKind kind, int n = 0);
  void perform(Spawn spawn);
  // What the thread serves next; without an item it leaves.
  Queues::Taken next(Lock& lock);
  Queues::Taken listen(Lock& lock);
  Queues::Taken take();
  void serve(const Queues::Taken& taken, Lock& lock, WorkerStats& stats);
  std::int64_t queue_clock_us(std::int64_t now_ns) const;
  bool sleep(Lock& lock, Clock::time_point deadline);
  void call_last(Call call);
  bool all_sleepers_counted() const;
  int poll(int timeout_ms, Lock* unlock_while_waiting, Connection*& gone);
  void hang_up(Connection* gone, Lock& lock);

  GroupHost& host_;
  mutable std::mutex mutex_;
  GroupMachine machine_;
  Queues queues_;
  SilentConnections connections_;   // all that belong to the group
  std::vector<Sleeper*> sleepers_;  // last in, first out; as many as the machine counts
  ConnectionPoll poll_;
  bool stopping_ = false;
};

}  // namespace poolpilot
