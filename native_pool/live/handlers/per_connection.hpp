// MariaDB's thread_handling=one-thread-per-connection: every client has a thread to itself.
//
// A thread owns its connection from its welcome to its end and blocks in poll(2) on its socket, so
// nothing is handed over but the connection itself. Once it has ended, the thread waits in the
// cache for the next one, last in first out, or ends where thread_cache_size wait already. Waits
// that requests report change nothing, and no knob of the tuple has an effect.
//
// The mutex guards the cache. Who takes a thread off it gives it a connection under the same hold,
// so a cached thread is called once and for one connection. A thread is notified under the mutex,
// because its condition variable lives on its own stack.
//
// Stop. stop() calls those in the cache and makes the stop event readable for good, which every
// poll(2) watches; threads in the middle of a turn end it and leave. A connection that is left
// then is the pool's to close.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "live/connection_handler.hpp"
#include "live/settings.hpp"
#include "live/thread_registry.hpp"
#include "policy/count_over_time.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

class PerConnection final : public ConnectionHandler {
 public:
  // Everything it is given must outlive it.
  PerConnection(const LivePoolSettings& settings, HandlerHost& host, ThreadRegistry& registry)
      : settings_(settings), host_(host), registry_(registry) {}

  void start() override;
  void configure(const PoolTuple&, const PoolKnobs&) override {}
  [[nodiscard]] bool welcome(Connection& connection) override;
  [[nodiscard]] bool rearm(Connection&) override { return true; }  // its thread waits for it
  void stop() override;
  void add_counts(PoolSnapshot& snapshot, const WorkerTotals& workers) const override;

 private:
  class Thread;
  struct Cached {
    std::condition_variable called;
    Connection* connection = nullptr;
  };

  bool call_cached(Connection& connection);
  bool start_thread(Connection& connection);
  void work(WorkerStats& stats, Connection& first);
  Connection* wait_in_cache();

  const LivePoolSettings& settings_;
  HandlerHost& host_;
  ThreadRegistry& registry_;
  Descriptor stop_event_;
  mutable std::mutex mutex_;
  std::vector<Cached*> cache_;  // the last to enter is the last
  CountOverTime threads_;
  std::int64_t created_ = 0;
  std::int64_t reused_ = 0;
  bool stopping_ = false;
};

}  // namespace poolpilot
