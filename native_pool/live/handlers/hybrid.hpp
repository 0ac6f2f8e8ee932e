// Damien Katz's thread_pool_hybrid: pools whose threads have a connection each, in poll(2), as long
// as there are no more connections than threads, and else wait for all of them in one epoll.
//
// A connection lives in the pool that its number names among the pools in use. When their count
// changes, every connection moves at the end of its next turn. Pools are opened once they are
// needed and stay open; one that is out of use loses its last threads idle_timeout_s after its last
// connection. There is no listener, no queue and no stall: the timer only closes silent clients and
// asks again for threads that the system has refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "live/connection_handler.hpp"
#include "live/handlers/hybrid_pool.hpp"
#include "live/settings.hpp"
#include "live/thread_registry.hpp"
#include "live/timer.hpp"

namespace poolpilot {

class Hybrid final : public ConnectionHandler, private HybridHost {
 public:
  // Everything it is given must outlive it.
  Hybrid(const LivePoolSettings& settings, HandlerHost& host, ThreadRegistry& registry);

  void start() override;
  void configure(const PoolTuple& tuple, const PoolKnobs& knobs) override;
  [[nodiscard]] bool welcome(Connection& connection) override;
  [[nodiscard]] bool rearm(Connection& connection) override;
  void stop() override;
  void add_counts(PoolSnapshot& snapshot, const WorkerTotals& workers) const override;

 private:
  bool start_thread(HybridPool& pool) override;
  bool pools_full() const override;
  HybridPool& pool_of(const Connection& connection) const override;
  double idle_timeout_s() const override;
  std::int64_t silence_us() const override;

  void open_pools(int count);
  void tick();

  const LivePoolSettings& settings_;
  HandlerHost& host_;
  ThreadRegistry& registry_;
  const int processors_;
  std::vector<std::unique_ptr<HybridPool>> pools_;
  // Release by configure() after the pools are open, acquire by those who index pools_ with it.
  std::atomic<int> pool_count_{0};
  // Relaxed: knobs by themselves, which order nothing.
  std::atomic<double> idle_timeout_s_;
  std::atomic<int> timer_interval_ms_;
  std::atomic<int> max_threads_;
  Timer timer_;
};

}  // namespace poolpilot
