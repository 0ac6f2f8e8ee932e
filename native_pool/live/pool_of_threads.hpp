// MariaDB's thread_handling=pool-of-threads: thread groups, and the timer that looks after them.
//
// A connection lives in the group that its number names among the groups in use. When their count
// changes, every connection moves at the end of its next turn. Groups are opened once they are
// needed and stay open: threads and silent connections of one that is out of use remain in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "live/connection_handler.hpp"
#include "live/group.hpp"
#include "live/settings.hpp"
#include "live/thread_registry.hpp"
#include "live/timer.hpp"

namespace poolpilot {

class PoolOfThreads final : public ConnectionHandler, private GroupHost {
 public:
  // Everything it is given must outlive it. With record_events `logs` gets one for every group that
  // can ever be open; otherwise it is left empty.
  PoolOfThreads(const LivePoolSettings& settings, HandlerHost& host, ThreadRegistry& registry,
                std::vector<EventLog>& logs);

  void start() override;
  void configure(const PoolTuple& tuple, const PoolKnobs& knobs) override;
  [[nodiscard]] bool welcome(Connection& connection) override;
  [[nodiscard]] bool rearm(Connection& connection) override;
  void stop() override;
  void add_counts(PoolSnapshot& snapshot, const WorkerTotals& workers) const override;

 private:
  bool start_worker(Group& group) override;
  bool pool_full() const override;
  void serve(Connection& connection, WorkerStats& stats) override;
  bool hangs_up_at_once() const override;
  void hang_up(Connection& connection) override;
  double idle_timeout_s() const override;
  std::int64_t wait_timeout_us() const override;

  void open_groups(int count);
  Group& group_of(const Connection& connection) const;
  void tick();

  const LivePoolSettings& settings_;
  HandlerHost& host_;
  ThreadRegistry& registry_;
  std::vector<std::unique_ptr<Group>> groups_;
  // Release by configure() after the groups are open, acquire by those who index groups_ with it.
  std::atomic<int> group_count_{0};
  // Relaxed: knobs by themselves, which order nothing.
  std::atomic<double> idle_timeout_s_;
  std::atomic<int> max_threads_;
  Timer timer_;
};

}  // namespace poolpilot
