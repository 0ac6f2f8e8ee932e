// How a pool gives threads to connections: MariaDB's thread_handling.
//
// The pool owns the memory and the socket of every connection; the handler says which thread serves
// it, and when. welcome() hands it to the handler, and a thread of the handler's calls serve() once
// there is something to read, or end() once its client is gone. A turn hands it back by rearm() or,
// before it closes it, has its home forget it; end() does the latter. Nobody else closes one while
// the pool serves. A turn may also end with neither: the connection waits for admission then, and
// its home's requeue() asks for its next turn.
#pragma once

#include <cstdint>

#include "live/connection.hpp"
#include "live/thread_registry.hpp"
#include "pool/knobs.hpp"
#include "pool/snapshot.hpp"
#include "pool/tuple.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

// Why a handler has a connection closed without a turn.
enum class Ending : std::uint8_t { kHungUp, kUnarmed };

// What a handler needs of its pool.
class HandlerHost {
 public:
  virtual ~HandlerHost() = default;
  // One turn of a connection: its requests are run and it is rearmed, closed or parked. The caller
  // must not touch it afterwards.
  virtual void serve(Connection& connection, WorkerStats& stats) = 0;
  // Closes a connection that the caller owns, in the place of a turn. The same holds afterwards.
  virtual void end(Connection& connection, Ending why) = 0;
};

class ConnectionHandler {
 public:
  virtual ~ConnectionHandler() = default;

  // Throws std::system_error when the system refuses; then it can only be stopped and destroyed.
  virtual void start() = 0;
  // Puts a tuple and knobs in force, one call at a time. Throws std::system_error when the system
  // refuses: what was in force then stays.
  virtual void configure(const PoolTuple& tuple, const PoolKnobs& knobs) = 0;

  // A new connection gets its home and, as a login would, a first turn. The caller must not touch
  // it afterwards, unless the answer is false: then the system refuses what it takes to serve it,
  // and the caller owns it still; it has no home.
  [[nodiscard]] virtual bool welcome(Connection& connection) = 0;
  // Waits for the connection's next request. The caller must not touch it afterwards, unless the
  // answer is false: then the system refuses, and the caller owns it still.
  [[nodiscard]] virtual bool rearm(Connection& connection) = 0;

  // Ends what calls serve(): turns under way end, and no other begins. Returns before they have
  // ended. Safe to call before a start.
  virtual void stop() = 0;

  // `workers` is what the threads of the pool have counted.
  virtual void add_counts(PoolSnapshot& snapshot, const WorkerTotals& workers) const = 0;
};

}  // namespace poolpilot
