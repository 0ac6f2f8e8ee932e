#include "live/snapshot.hpp"

#include <utility>

namespace poolpilot {

void add(GroupCounters& sum, const GroupCounters& one) {
  sum.thread_creations += one.thread_creations;
  sum.thread_creations_stall += one.thread_creations_stall;
  sum.wakes += one.wakes;
  sum.wakes_stall += one.wakes_stall;
  sum.throttles += one.throttles;
  sum.stalls += one.stalls;
  sum.dequeues_listener += one.dequeues_listener;
  sum.dequeues_worker += one.dequeues_worker;
  sum.polls_listener += one.polls_listener;
  sum.polls_worker += one.polls_worker;
  sum.thread_us += one.thread_us;
  sum.active_thread_us += one.active_thread_us;
  sum.queue_length_us += one.queue_length_us;
}

void add(GroupState& sum, const GroupState& one) {
  sum.thread_count += one.thread_count;
  sum.active_count += one.active_count;
  sum.queue_length += one.queue_length;
}

void put_group_counts(PoolSnapshot& snapshot, const GroupCounters& sum, const GroupState& state) {
  const std::pair<const char*, std::int64_t> counters[] = {
      {"thread_creations", sum.thread_creations},
      {"thread_creations_stall", sum.thread_creations_stall},
      {"wakes", sum.wakes},
      {"wakes_stall", sum.wakes_stall},
      {"throttles", sum.throttles},
      {"stalls", sum.stalls},
      {"dequeues_listener", sum.dequeues_listener},
      {"dequeues_worker", sum.dequeues_worker},
      {"polls_listener", sum.polls_listener},
      {"polls_worker", sum.polls_worker},
      {"thread_us", sum.thread_us},
      {"active_thread_us", sum.active_thread_us},
      {"queue_length_us", sum.queue_length_us}};
  for (const auto& [name, value] : counters) {
    snapshot.counters[name] = static_cast<double>(value);
  }
  snapshot.gauges["threads"] = state.thread_count;
  snapshot.gauges["active_threads"] = state.active_count;
  snapshot.gauges["queue_length"] = state.queue_length;
}

void add_worker_counts(PoolSnapshot& snapshot, const WorkerStats& stats,
                       const std::vector<std::string>& class_names, bool instrument) {
  auto& counters = snapshot.counters;
  auto& histograms = snapshot.histograms;
  const char* wait_names[kWaitKinds] = {"waits_sleep", "waits_disk_io", "waits_row_lock",
                                        "waits_net"};
  counters["completed"] += static_cast<double>(stats.completed.value());
  counters["failed"] += static_cast<double>(stats.failed.value());
  counters["latch_waits"] += static_cast<double>(stats.latch_waits.value());
  counters["sampled_requests"] += static_cast<double>(stats.sampled_requests.value());
  counters["voluntary_switches"] += static_cast<double>(stats.voluntary_switches.value());
  counters["involuntary_switches"] += static_cast<double>(stats.involuntary_switches.value());
  for (std::size_t i = 0; i < kWaitKinds; ++i) {
    counters[wait_names[i]] += static_cast<double>(stats.waits[i].value());
  }
  if (!instrument) return;
  stats.queue_wait_us.add_to(histograms["queue_wait_us"]);
  stats.active_round_us.add_to(histograms["active_round_us"]);
  stats.wait_round_us.add_to(histograms["wait_round_us"]);
  stats.think_us.add_to(histograms["think_us"]);
  stats.latch_wait_us.add_to(histograms["latch_wait_us"]);
  stats.round_cpu_us.add_to(histograms["round_cpu_us"]);
  stats.run_delay_us.add_to(histograms["run_delay_us"]);
  stats.active_rounds.add_to(histograms["active_rounds"]);
  for (std::size_t i = 0; i < class_names.size(); ++i) {
    stats.latency_us[i].add_to(histograms["latency_us/" + class_names[i]]);
  }
}

}  // namespace poolpilot
