#include "live/request_server.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "live/client_socket.hpp"
#include "live/connection_home.hpp"
#include "system/clock.hpp"

namespace poolpilot {
namespace {

bool receive(Connection& connection) {
  const ssize_t got = recv(connection.fd, connection.buffer.data() + connection.buffered,
                           connection.buffer.size() - connection.buffered, 0);
  if (got > 0) connection.buffered += static_cast<std::size_t>(got);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// Takes what was used off the front of the buffer.
void discard(Connection& connection, std::size_t used) {
  connection.buffered -= used;
  std::memmove(connection.buffer.data(), connection.buffer.data() + used, connection.buffered);
}

}  // namespace

TurnEnd RequestServer::turn(Connection& connection, WorkerStats& stats) {
  if (connection.fresh) {
    connection.fresh = false;
    return TurnEnd::kOver;
  }
  if (connection.timed_out) {
    timed_out_connections_.fetch_add(1, std::memory_order_relaxed);
    return TurnEnd::kClose;
  }
  const bool was_parked = connection.parked_ns != 0;
  if (!was_parked && !receive(connection)) {
    connection.client_gone = true;
    return TurnEnd::kClose;
  }
  return answer_frames(connection, stats);
}

TurnEnd RequestServer::answer_frames(Connection& connection, WorkerStats& stats) {
  std::size_t used = 0;
  bool alive = true;
  for (bool first = true; alive; first = false) {
    std::size_t frame = 0;
    alive = decode(connection, used, frame);
    if (frame == 0) break;
    const std::int64_t start_ns = now_ns();
    if (first) record_wait(connection, stats, start_ns);
    const Admittance admittance = admit(connection, used, start_ns);
    if (admittance == Admittance::kPark) return TurnEnd::kParked;
    used += frame;
    alive =
        admittance == Admittance::kRun ? answer(connection, stats, start_ns) : refuse(connection);
  }
  discard(connection, used);
  return alive ? TurnEnd::kOver : TurnEnd::kClose;
}

// Tells the bytes of the next request, 0 while it is not there yet; false where it breaks a rule.
bool RequestServer::decode(Connection& connection, std::size_t used, std::size_t& frame) {
  try {
    frame = decode_request(std::span(connection.buffer).first(connection.buffered).subspan(used),
                           connection.request);
    return true;
  } catch (const ProtocolError&) {
    protocol_errors_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
}

// Requests before this one leave the buffer first, and it is as it must be for its next turn: once
// it is parked, another thread may serve the connection at once.
Admittance RequestServer::admit(Connection& connection, std::size_t& used, std::int64_t start_ns) {
  const bool passes = connection.in_transaction || connection.is_admitted() ||
                      !gate_.holds_for(connection.request.header.class_id);
  if (passes) return Admittance::kRun;
  discard(connection, std::exchange(used, 0));
  connection.parked_ns = start_ns;
  const Admittance admittance = gate_.enter(connection);
  if (admittance != Admittance::kPark) connection.parked_ns = 0;
  return admittance;
}

bool RequestServer::answer(Connection& connection, WorkerStats& stats, std::int64_t start_ns) {
  if (connection.was_misplaced(connection.request.header.class_id)) {
    stats.counters.misplaced.add();
  }
  ConnectionHome& host = connection.host != nullptr ? *connection.host : *connection.home;
  const Status status = executor_.run(connection, host, stats, start_ns);
  if (!connection.in_transaction) gate_.leave(connection, &host);
  record_latency(connection, stats);
  (status == Status::kOk ? stats.counters.completed : stats.counters.failed).add();
  return send_response(connection, status);
}

bool RequestServer::refuse(Connection& connection) {
  connection.last_response_ns = now_ns();
  return send_response(connection, Status::kRefused);
}

// A request that was parked arrived in an earlier turn, which has recorded that.
void RequestServer::record_wait(Connection& connection, WorkerStats& stats,
                                std::int64_t start_ns) const {
  if (connection.parked_ns == 0) return record_arrival(connection, stats, start_ns);
  const std::int64_t parked_ns = std::exchange(connection.parked_ns, 0);
  if (!executor_.settings().instrument) return;
  stats.record(Timing::kAdmissionWait, whole_us(start_ns - parked_ns));
}

// Only for the first request of a turn: those sent together with it were taken off the queue with
// it, and their client did not think in between.
void RequestServer::record_arrival(const Connection& connection, WorkerStats& stats,
                                   std::int64_t start_ns) const {
  if (!executor_.settings().instrument) return;
  stats.record(Timing::kQueueWait, whole_us(start_ns - connection.enqueued_ns));
  if (connection.last_response_ns == 0) return;
  stats.record(Timing::kThink, whole_us(connection.enqueued_ns - connection.last_response_ns));
}

// From the client's send, or from the arrival where the client does not say a time that can be.
void RequestServer::record_latency(const Connection& connection, WorkerStats& stats) const {
  if (!executor_.settings().instrument) return;
  const RequestHeader& header = connection.request.header;
  const auto sent_ns = static_cast<std::int64_t>(header.sent_ns);
  const bool trusted = sent_ns > 0 && sent_ns <= connection.last_response_ns;
  const std::int64_t since_ns = trusted ? sent_ns : connection.enqueued_ns;
  stats.record(latency_of(header.class_id), whole_us(connection.last_response_ns - since_ns));
}

bool RequestServer::send_response(const Connection& connection, Status status) {
  const RequestHeader& header = connection.request.header;
  std::array<std::byte, kResponseBytes> response;
  encode_response({status, header.class_id, header.request_id}, response);
  const ssize_t sent = send(connection.fd, response.data(), response.size(), MSG_NOSIGNAL);
  if (std::cmp_equal(sent, response.size())) return true;
  // A full socket buffer means thousands of answers unread, on a Unix socket hundreds where the
  // system's wmem_max is small: that client must not hold a worker.
  if (sent >= 0 || errno == EAGAIN) slow_readers_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void RequestServer::cancel(Connection& connection) {
  if (!connection.client_gone) shutdown(connection.fd, SHUT_RDWR);
  cancelled_requests_.fetch_add(
      take_unread_requests(connection.fd, connection.buffer, connection.buffered),
      std::memory_order_relaxed);
}

void RequestServer::cancel(int socket) {
  shutdown(socket, SHUT_RDWR);
  std::array<std::byte, 2 * kMaxBodyBytes> buffer;
  cancelled_requests_.fetch_add(take_unread_requests(socket, buffer, 0), std::memory_order_relaxed);
}

void RequestServer::add_counts(PoolSnapshot& snapshot) const {
  snapshot.counters["cancelled_requests"] = static_cast<double>(cancelled_requests_.load());
  snapshot.counters["protocol_errors"] = static_cast<double>(protocol_errors_.load());
  snapshot.counters["slow_readers"] = static_cast<double>(slow_readers_.load());
  snapshot.counters["timed_out_connections"] = static_cast<double>(timed_out_connections_.load());
}

}  // namespace poolpilot
