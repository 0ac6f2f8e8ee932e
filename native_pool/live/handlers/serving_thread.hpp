// A thread that serves connections outside a thread group, and is their home while it does.
//
// Being the home it learns in the middle of a turn whether the connection stays, and keeps the
// clock of its own work, which stops while a request waits and says so.
#pragma once

#include <cassert>
#include <cstdint>

#include "live/client_socket.hpp"
#include "live/connection.hpp"
#include "live/connection_handler.hpp"
#include "live/connection_home.hpp"
#include "live/settings.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

class ServingThread : public ConnectionHome {
 public:
  // Everything it is given must outlive it.
  ServingThread(const LivePoolSettings& settings, HandlerHost& host, WorkerStats& stats);

  void wait_begin(WaitKind kind) override;
  void wait_end(WaitKind kind) override;
  // Nobody is parked here: only a pool of thread groups has an admission (check_pool()).
  void requeue(Connection&) override { assert(false); }

 protected:
  // Does for a connection what was found at its socket: a turn, or its end. Says how long it took,
  // in nanoseconds.
  std::int64_t serve(Connection& connection, OwnSocket found);

  // Waits for the client of a connection alone, until `call` is readable.
  OwnSocket wait_for_client(const Connection& connection, int call) const;

  HandlerHost& host() const { return host_; }
  bool hangs_up_at_once() const { return hang_up_at_once_; }

 private:
  HandlerHost& host_;
  WorkerStats& stats_;
  const std::int64_t timeout_ms_;
  const bool hang_up_at_once_;
};

}  // namespace poolpilot
