// A thread of a hybrid pool: it takes connections out of the epoll, or keeps one and waits for it
// alone.
//
// In a turn it has a connection. At the end it owns it, or has none: the pool has taken it back,
// or it was closed, or it has moved to another pool. The thread itself stays in its pool.
#pragma once

#include "live/handlers/hybrid_pool.hpp"
#include "live/handlers/serving_thread.hpp"
#include "live/handlers/turn_meter.hpp"

namespace poolpilot {

class HybridThread final : public ServingThread {
 public:
  HybridThread(const LivePoolSettings& settings, HandlerHost& host, WorkerStats& stats,
               const HybridHost& pools, HybridPool& pool)
      : ServingThread(settings, host, stats), pools_(pools), pool_(pool) {}

  // Returns when the thread is one too many, or the pool stops.
  void run();

  // In the middle of a turn: waits for the connection's next request, as
  // ConnectionHandler::rearm().
  [[nodiscard]] bool rearm(Connection& connection);
  void remove(Connection& connection) override;

  void wait_begin(WaitKind kind) override;
  void wait_end(WaitKind kind) override;

 private:
  bool serve_next();
  bool serve_own();
  void serve_metered(Connection& connection, OwnSocket found);
  bool turn_over(Connection& connection);

  const HybridHost& pools_;
  HybridPool& pool_;
  TurnMeter meter_;
  Connection* connection_ = nullptr;  // that it serves or owns, and that lives in its pool
  bool owns_ = false;
};

}  // namespace poolpilot
