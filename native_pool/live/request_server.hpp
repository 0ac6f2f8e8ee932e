// What a thread does in its turn of a connection: it reads what has come in, runs it and answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "live/admission_gate.hpp"
#include "live/connection.hpp"
#include "live/executor.hpp"
#include "pool/snapshot.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

enum class TurnEnd : std::uint8_t {
  kOver,    // it may wait for its next request
  kClose,   // it must be closed
  kParked,  // it waits for admission, and is the caller's no more
};

class RequestServer {
 public:
  RequestServer(Executor& executor, AdmissionGate& gate) : executor_(executor), gate_(gate) {}

  // Everything that one read brings in; for one that was parked, what it had read before.
  TurnEnd turn(Connection& connection, WorkerStats& stats);

  // Before a connection, or a socket that never became one, is closed: counts the requests that
  // have come in whole and will not be run. Unless the client is gone, the socket is shut first:
  // what is sent from then on is refused by the system and is nowhere a request.
  void cancel(Connection& connection);
  void cancel(int socket);

  void add_counts(PoolSnapshot& snapshot) const;

 private:
  bool decode(Connection& connection, std::size_t used, std::size_t& frame);
  TurnEnd answer_frames(Connection& connection, WorkerStats& stats);
  Admittance admit(Connection& connection, std::size_t& used, std::int64_t start_ns);
  bool answer(Connection& connection, WorkerStats& stats, std::int64_t start_ns);
  bool refuse(Connection& connection);
  void record_wait(Connection& connection, WorkerStats& stats, std::int64_t start_ns) const;
  void record_arrival(const Connection& connection, WorkerStats& stats,
                      std::int64_t start_ns) const;
  void record_latency(const Connection& connection, WorkerStats& stats) const;
  bool send_response(const Connection& connection, Status status);

  Executor& executor_;
  AdmissionGate& gate_;
  // Events of no single worker; relaxed, they order nothing.
  std::atomic<std::int64_t> cancelled_requests_{0};
  std::atomic<std::int64_t> protocol_errors_{0};
  std::atomic<std::int64_t> slow_readers_{0};
  std::atomic<std::int64_t> timed_out_connections_{0};  // closed after wait_timeout_s of silence
};

}  // namespace poolpilot
