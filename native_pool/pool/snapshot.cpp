#include "pool/snapshot.hpp"

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

void put_admission_counts(PoolSnapshot& snapshot, const AdmissionCounters& counters,
                          const AdmissionState& state) {
  snapshot.counters["admission_admitted"] = static_cast<double>(counters.admitted);
  snapshot.counters["admission_parked"] = static_cast<double>(counters.parked);
  snapshot.counters["admission_refused"] = static_cast<double>(counters.refused);
  snapshot.counters["admission_escaped"] = static_cast<double>(counters.escaped);
  snapshot.counters["admission_inside_us"] = static_cast<double>(counters.inside_us);
  snapshot.gauges["admission_limit"] = state.limit;
  snapshot.gauges["admission_inside"] = state.inside;
  snapshot.gauges["admission_waiting"] = state.waiting;
}

void put_hand_overs(PoolSnapshot& snapshot, std::int64_t to_own_socket, std::int64_t to_epoll) {
  snapshot.counters["hand_overs_to_own_socket"] = static_cast<double>(to_own_socket);
  snapshot.counters["hand_overs_to_epoll"] = static_cast<double>(to_epoll);
}

void put_worker_counts(PoolSnapshot& snapshot, const WorkerCounters& counted) {
  const char* wait_names[kWaitKinds] = {"waits_sleep", "waits_disk_io", "waits_row_lock",
                                        "waits_net"};
  const auto put = [&](const char* name, const Counter& counter) {
    snapshot.counters[name] = static_cast<double>(counter.value());
  };
  put("completed", counted.completed);
  put("failed", counted.failed);
  put("misplaced_requests", counted.misplaced);
  put("latch_waits", counted.latch_waits);
  put("sampled_requests", counted.sampled_requests);
  put("voluntary_switches", counted.voluntary_switches);
  put("involuntary_switches", counted.involuntary_switches);
  for (std::size_t i = 0; i < kWaitKinds; ++i) put(wait_names[i], counted.waits[i]);
}

void put_timings(PoolSnapshot& snapshot, std::vector<HistogramCounts> counts,
                 const std::vector<std::string>& class_names) {
  const char* names[kTimings] = {"queue_wait_us", "active_round_us", "wait_round_us",
                                 "think_us",      "latch_wait_us",   "round_cpu_us",
                                 "run_delay_us",  "active_rounds",   "admission_wait_us"};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string name = i < kTimings ? names[i] : "latency_us/" + class_names[i - kTimings];
    snapshot.histograms[name] = std::move(counts[i]);
  }
}

}  // namespace poolpilot
