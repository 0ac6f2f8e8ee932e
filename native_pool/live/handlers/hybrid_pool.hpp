// One pool of the hybrid handler: a HybridMachine with its mutex, its epoll, its gate and the
// connections that live in it.
//
// Ownership. A connection is in the epoll from admit(), or from a turn_over() that tells its thread
// to wait, until a thread's take() returns it. Who puts it there holds the mutex while the system
// does it, and who takes it holds the mutex once it has found its event; so the first is done with
// it before the second can close it. When the system refuses, the pool forgets it and the caller
// owns it still. EPOLLONESHOT keeps the epoll silent about a connection that a thread serves or
// owns. Those in the epoll are marked as armed, and a tick, which holds the mutex, may shut the
// socket of one that has been silent for too long: nobody can have closed it. The shut socket is an
// event like any other, and its turn closes it.
//
// The gate, and the kick. An event whose readability says that the gate is shut; every thread that
// owns a connection has it in its poll(2). Level, not edge: when the machine shuts the gate all of
// them come, each asks for itself by turn_over(), and while it stays shut none can miss it or be
// kept by it. When the machine opens the gate the event is cleared, and who has not asked yet stays
// where it is. Both under the mutex. `gate_open_` says the same to threads between two turns.
//
// Taken at once. While turns are short (hybrid_machine.hpp) a thread takes several connections out
// of the epoll. Those beside its own wait in `found_`, under the mutex, for the threads that come
// for their next; the epoll is silent about them, and nobody owns or shuts them. Whoever has put
// some there comes back for them at the end of its turn, or enough others do. If nobody does,
// because a thread keeps a connection of its own, or its turn waits, they go back to the epoll,
// which finds them for those who wait there; so they do at the first tick that finds that nobody
// has taken one for some milliseconds, as a turn may last without saying so. Where the system
// refuses that, they stay and are tried again.
//
// Standing by. Those whom the machine lets stand by wait for `called_`, and look every few
// milliseconds: if no connection has been taken since, those who serve sleep against all odds. An
// era ends, from which on these no longer count, and those who stand by go to the epoll.
//
// Creation. A thread that the system refuses is asked for again by the next event that wants one,
// and by the tick. Until then the machine keeps the gate shut if nobody waits in the epoll.
//
// Stop. stop() makes the epoll's stop event and the gate readable for good. From then on no thread
// takes, owns, waits or is created; threads in the middle of a turn end it and leave. Connections
// are the pool's to close.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "handlers/hybrid_machine.hpp"
#include "live/connection.hpp"
#include "live/connection_poll.hpp"
#include "live/handlers/turn_meter.hpp"
#include "live/silent_connections.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

class HybridPool;

// What a pool needs of its handler.
class HybridHost {
 public:
  virtual ~HybridHost() = default;
  // Starts a thread of `pool`; false when the system refuses. Called under the pool's mutex.
  virtual bool start_thread(HybridPool& pool) = 0;
  // All pools together have as many threads as they may.
  virtual bool pools_full() const = 0;
  // The pool where a connection belongs now.
  virtual HybridPool& pool_of(const Connection& connection) const = 0;
  virtual double idle_timeout_s() const = 0;
  // From the last tick, the longest that a client may be silent.
  virtual std::int64_t silence_us() const = 0;
};

class HybridPool {
 public:
  HybridPool(HybridHost& host, const HybridSettings& settings)
      : host_(host), machine_(settings), settings_(settings) {}

  // Makes epoll and gate; does nothing when there are some. Throws std::system_error.
  void open();
  // Of all processors, those for this pool.
  void set_processors(int number);

  // Takes in a connection, new or of another pool. Not to be touched afterwards unless the answer
  // is false.
  [[nodiscard]] bool admit(Connection& connection);
  // The thread that serves or `owns` a connection forgets it, about to close or move it, and takes
  // the next.
  void leave(Connection& connection, bool owns);
  // One that has left and stays open: the epoll forgets it too.
  void forget(Connection& connection) const { poll_.forget(connection); }

  // The turn of a thread is over, or the gate has called one that `owns`. kOwn: it keeps the
  // connection; kWait: it must not touch it, and takes the next; kNone: the same, but the system
  // has refused, and the caller owns the connection, which has left the pool.
  HybridSelf turn_over(Connection& connection, bool owns);
  // Waits for a connection with an event; nullptr when the thread ends.
  Connection* take(std::uint32_t& events);

  // A turn of one of the pool's threads; not every turn is told.
  void add_turn(const MeteredTurn& turn);

  // A hint: relaxed, as whoever goes by an old answer meets the gate in its next poll(2).
  bool is_gate_open() const { return gate_open_.load(std::memory_order_relaxed); }
  int gate() const { return gate_.get(); }
  bool is_stopping() const;

  // A turn waits and says so, for a lock or else; what its thread took along goes back.
  void wait_begin(bool for_lock);
  void lock_wait_end();

  void tick(std::int64_t now_us);
  // Ends the pool's threads; safe to call twice, and before open().
  void stop();

  HybridState state() const;
  HybridCounters counters() const;
  // Waits of the epoll that brought something.
  std::int64_t polls() const;

 private:
  struct Waiting {
    int timeout_ms;
    bool idle;  // for idle_timeout_s
  };

  Waiting next_wait() const;
  bool stand_by();
  bool enough_serve() const;
  void end_era();
  void begin_serving(Connection& connection);
  void end_serving(const Connection& connection);
  Connection* take_found(std::uint32_t& events);
  void put_back_found();
  void add_turns_since_last_tick(HybridEvent& tick);
  bool watch(Connection& connection);
  HybridDecision apply(HybridEventKind kind, bool owns = false, bool idle = false);
  HybridDecision apply(const HybridEvent& event);
  void move(Gate gate);

  HybridHost& host_;
  mutable std::mutex mutex_;
  HybridMachine machine_;
  const HybridSettings settings_;
  SilentConnections connections_;
  ConnectionPoll poll_;
  Descriptor gate_;
  std::vector<epoll_event> found_;  // the next one is the last
  // Hint and wish, relaxed: that found_ is not empty, which the thread that fills it sees itself;
  // how many to take at once.
  std::atomic<bool> has_found_{false};
  std::atomic<int> taken_at_once_{1};
  std::int64_t taken_us_ = 0;       // when the last one was taken
  std::condition_variable called_;  // who stands by
  // Threads in a turn that began in the epoll, in this era.
  int serving_ = 0;
  std::uint32_t era_ = 0;
  // Hint, relaxed: whoever stands by looks again under the mutex, and who does not is one more.
  std::atomic<bool> enough_serve_{false};
  std::int64_t taken_ = 0;
  std::int64_t polls_ = 0;
  // Sums that the ticks take differences of: relaxed, a turn may be missing in one of the two.
  std::atomic<std::int64_t> turns_{0};
  std::atomic<std::int64_t> turn_ns_{0};
  std::atomic<std::int64_t> slept_{0};
  std::int64_t ticked_turns_ = 0;
  std::int64_t ticked_turn_ns_ = 0;
  std::int64_t ticked_slept_ = 0;
  std::atomic<bool> gate_open_{true};
  // Whether a thread that begins to wait is one too many. Relaxed: its own last event, or a later
  // one, has set it.
  std::atomic<bool> excess_{false};
  bool stopping_ = false;
};

}  // namespace poolpilot
