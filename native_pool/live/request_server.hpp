// What a thread does in its turn of a connection: it reads what has come in, runs it and answers.
#pragma once

#include <atomic>
#include <cstdint>

#include "live/connection.hpp"
#include "live/executor.hpp"
#include "pool/snapshot.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

class RequestServer {
 public:
  explicit RequestServer(Executor& executor) : executor_(executor) {}

  // Everything that one read brings in; false when the connection must be closed.
  bool turn(Connection& connection, WorkerStats& stats);

  void add_counts(PoolSnapshot& snapshot) const;

 private:
  bool answer_frames(Connection& connection, WorkerStats& stats);
  bool answer(Connection& connection, WorkerStats& stats, std::int64_t start_ns);
  void record_arrival(const Connection& connection, WorkerStats& stats,
                      std::int64_t start_ns) const;
  void record_latency(const Connection& connection, WorkerStats& stats) const;
  bool send_response(const Connection& connection, Status status);

  Executor& executor_;
  // Events of no single worker; relaxed, they order nothing.
  std::atomic<std::int64_t> protocol_errors_{0};
  std::atomic<std::int64_t> slow_readers_{0};
  std::atomic<std::int64_t> timed_out_connections_{0};  // closed after wait_timeout_s of silence
};

}  // namespace poolpilot
