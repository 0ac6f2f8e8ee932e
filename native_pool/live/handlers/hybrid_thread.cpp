#include "live/handlers/hybrid_thread.hpp"

#include <cassert>

#include "live/client_socket.hpp"

namespace poolpilot {

void HybridThread::run() {
  while (owns_ ? serve_own() : serve_next()) assert(owns_ == (connection_ != nullptr));
}

bool HybridThread::serve_next() {
  std::uint32_t events = 0;
  Connection* const taken = pool_.take(events);
  if (taken == nullptr) return false;
  connection_ = taken;
  taken->home = this;
  // One that a tick has shut looks like one whose client is gone.
  const bool gone = hangs_up_at_once() && !taken->timed_out && has_hung_up(taken->fd, events);
  serve_metered(*taken, gone ? OwnSocket::kGone : OwnSocket::kReady);
  return true;
}

bool HybridThread::serve_own() {
  Connection& own = *connection_;
  const OwnSocket found = wait_for_client(own, pool_.gate());
  if (found != OwnSocket::kCalled) {
    serve_metered(own, found);
    return true;
  }
  if (pool_.is_stopping()) return false;
  if (!turn_over(own)) host().end(own, Ending::kUnarmed);
  return true;
}

void HybridThread::serve_metered(Connection& connection, OwnSocket found) {
  meter_.begin();
  const std::int64_t lasted_ns = serve(connection, found);
  if (const auto turn = meter_.end(lasted_ns)) pool_.add_turn(*turn);
}

bool HybridThread::rearm(Connection& connection) {
  HybridPool& target = pools_.pool_of(connection);
  if (&target != &pool_) {
    remove(connection);
    pool_.forget(connection);
    return target.admit(connection);
  }
  return (owns_ && pool_.is_gate_open()) || turn_over(connection);
}

bool HybridThread::turn_over(Connection& connection) {
  const HybridSelf self = pool_.turn_over(connection, owns_);
  owns_ = self == HybridSelf::kOwn;
  if (!owns_) connection_ = nullptr;
  return self != HybridSelf::kNone;
}

void HybridThread::remove(Connection& connection) {
  if (connection_ == nullptr) return;  // the pool has forgotten it already
  pool_.leave(connection, owns_);
  connection_ = nullptr;
  owns_ = false;
}

void HybridThread::wait_begin(WaitKind kind) {
  ServingThread::wait_begin(kind);
  pool_.wait_begin(kind == WaitKind::kRowLock);
}

void HybridThread::wait_end(WaitKind kind) {
  if (kind == WaitKind::kRowLock) pool_.lock_wait_end();
  ServingThread::wait_end(kind);
}

}  // namespace poolpilot
