// The live pool server: connections, the requests they send, and a handler that has them served.
//
// A pool is new, then serves, then is closed, and never goes back; a start that fails closes it.
// It serves in the process that started it. A forked child has a copy of its memory and shares its
// descriptors, but has none of its threads, and locks may be held there for ever: it can do nothing
// but leave the pool alone.
// start() and close() hold `lifecycle_mutex_` exclusively, every other public call holds it shared
// while it looks, so nothing is freed under one. The pool's own threads never take it: close()
// joins them while it holds it.
//
// Locks are taken in this order: lifecycle_mutex_, tuple_mutex_, one of the handler's (a group's, a
// hybrid pool's), the registry's.
// connections_mutex_, the timers', the admission's and a latch's are taken last and alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/acceptor.hpp"
#include "live/admission_gate.hpp"
#include "live/connection.hpp"
#include "live/connection_handler.hpp"
#include "live/executor.hpp"
#include "live/request_server.hpp"
#include "live/settings.hpp"
#include "live/thread_registry.hpp"
#include "pool/snapshot.hpp"

namespace poolpilot {

class LivePool final : private HandlerHost {
 public:
  // Throws std::invalid_argument when a setting is outside its range.
  explicit LivePool(const LivePoolSettings& settings);
  ~LivePool() override;

  // Binds, listens and starts to serve. Throws std::system_error when the system refuses: the pool
  // is closed then and has nothing open.
  void start();
  // Ends every thread and closes every descriptor. Safe in every state, from several threads, and
  // beside every other call; returns once the pool is closed. Does nothing in a forked child.
  void close();

  // Whether another process started it, of which this one was forked. It must not be destroyed
  // here: LivePoolHolder knows.
  bool is_of_another_process() const;

  // The six below throw std::logic_error unless the pool serves, in this process.

  // The address clients connect to.
  std::string address() const;
  PoolTuple tuple() const;
  // Puts a tuple in force and returns it. Throws std::invalid_argument outside the ranges, and
  // std::system_error when a group cannot be opened; the old tuple then stays.
  PoolTuple set_tuple(const PoolTuple& tuple);
  PoolKnobs knobs() const;
  // The same for the knobs besides the tuple. Throws std::system_error when the system refuses the
  // thread that an admission limit needs; all old knobs then stay.
  PoolKnobs set_knobs(const PoolKnobs& knobs);
  PoolSnapshot snapshot() const;

  // What it had counted when it was closed: every request that came in whole is completed, failed,
  // refused or cancelled in it. Empty for a pool that never served. Throws std::logic_error before
  // the pool is closed.
  PoolSnapshot last_snapshot() const;

  // Recorded events of every group that was ever open; empty unless record_events. Throws
  // std::logic_error before the pool is closed; nothing changes them afterwards.
  const std::vector<EventLog>& event_logs() const;

 private:
  enum class Phase : std::uint8_t { kNew, kServing, kClosed };

  void serve(Connection& connection, WorkerStats& stats) override;
  void end(Connection& connection, Ending why) override;

  std::shared_lock<std::shared_mutex> while_serving() const;
  std::unique_ptr<ConnectionHandler> make_handler();
  void open_all();
  void tear_down();
  void welcome(int socket);
  void drop(Connection& connection);
  void close_socket(Connection& connection);
  void turn_away(int socket);
  PoolSnapshot count() const;
  void add_worker_counts(PoolSnapshot& snapshot, WorkerTotals totals) const;
  void add_connection_counts(PoolSnapshot& snapshot) const;

  const LivePoolSettings settings_;
  mutable std::shared_mutex lifecycle_mutex_;
  Phase phase_ = Phase::kNew;  // guarded by lifecycle_mutex_
  // Of the process that started it; 0 before. Relaxed: a child gets it with the memory as it was at
  // the fork, and in the process itself nothing depends on who sees it when.
  std::atomic<pid_t> started_by_{0};
  // Set once, before a close takes its mutex. Relaxed: it only ends loops and turns calls away, and
  // joining the threads and lifecycle_mutex_ order the rest.
  std::atomic<bool> stopping_{false};
  Executor executor_;
  AdmissionGate gate_;
  RequestServer requests_;
  std::vector<EventLog> logs_;
  std::optional<PoolSnapshot> last_snapshot_;   // guarded by lifecycle_mutex_
  std::unique_ptr<ConnectionHandler> handler_;  // until the pool is closed
  ThreadRegistry registry_;  // after the handler its threads work for, so that it goes first

  mutable std::mutex tuple_mutex_;  // one change of the tuple or the knobs at a time
  PoolTuple tuple_;
  PoolKnobs knobs_;
  std::int64_t tuple_epoch_ = 0;

  mutable std::mutex connections_mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t next_connection_ = 0;

  // Events of no single worker; relaxed, they order nothing.
  std::atomic<std::int64_t> refused_connections_{0};  // over max_connections
  std::atomic<std::int64_t> unserved_connections_{
      0};  // closed, as the handler had no thread for them
  std::atomic<std::int64_t> unarmed_connections_{0};  // closed, as the handler could not rearm them
  std::atomic<std::int64_t> hang_ups_{0};             // closed without a turn, their client gone

  std::unique_ptr<Acceptor> acceptor_;  // from the start to the close
};

// Destroys a pool, but leaves one of another process where it is. For whoever may be forked.
struct DestroyOwnPool {
  void operator()(LivePool* pool) const;
};
using LivePoolHolder = std::unique_ptr<LivePool, DestroyOwnPool>;

}  // namespace poolpilot
