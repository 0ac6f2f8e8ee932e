#include "live/handlers/serving_thread.hpp"

#include <cmath>

#include "system/clock.hpp"

namespace poolpilot {

ServingThread::ServingThread(const LivePoolSettings& settings, HandlerHost& host,
                             WorkerStats& stats)
    : host_(host),
      stats_(stats),
      timeout_ms_(static_cast<std::int64_t>(std::ceil(settings.wait_timeout_s * 1e3))),
      hang_up_at_once_(settings.hang_up_at_once) {}

void ServingThread::wait_begin(WaitKind) { stats_.active.end(now_ns()); }

void ServingThread::wait_end(WaitKind) { stats_.active.begin(now_ns()); }

std::int64_t ServingThread::serve(Connection& connection, OwnSocket found) {
  const std::int64_t begun_ns = now_ns();
  connection.enqueued_ns = begun_ns;
  stats_.active.begin(begun_ns);
  if (found == OwnSocket::kGone) {
    host_.end(connection, Ending::kHungUp);
  } else {
    if (found == OwnSocket::kSilent) connection.timed_out = true;
    host_.serve(connection, stats_);
  }
  const std::int64_t ended_ns = now_ns();
  stats_.active.end(ended_ns);
  return ended_ns - begun_ns;
}

OwnSocket ServingThread::wait_for_client(const Connection& connection, int call) const {
  return wait_for(connection.fd, call, timeout_ms_, hang_up_at_once_);
}

}  // namespace poolpilot
