#include "pool/snapshot.hpp"

#include <string>
#include <utility>

namespace poolpilot {

namespace {

using G = GroupCounters;

constexpr std::pair<const char*, std::int64_t G::*> kGroupCounters[] = {
    {"thread_creations", &G::thread_creations},
    {"thread_creations_stall", &G::thread_creations_stall},
    {"wakes", &G::wakes},
    {"wakes_stall", &G::wakes_stall},
    {"throttles", &G::throttles},
    {"stalls", &G::stalls},
    {"dequeues_listener", &G::dequeues_listener},
    {"dequeues_worker", &G::dequeues_worker},
    {"polls_listener", &G::polls_listener},
    {"polls_worker", &G::polls_worker},
    {"thread_us", &G::thread_us},
    {"active_thread_us", &G::active_thread_us},
    {"queue_length_us", &G::queue_length_us}};

}  // namespace

void add(GroupCounters& sum, const GroupCounters& one) {
  for (const auto& [name, counter] : kGroupCounters) sum.*counter += one.*counter;
}

void add(GroupState& sum, const GroupState& one) {
  sum.thread_count += one.thread_count;
  sum.active_count += one.active_count;
  sum.queue_length += one.queue_length;
}

void put_group_counts(PoolSnapshot& snapshot, const GroupCounters& sum, const GroupState& state) {
  for (const auto& [name, counter] : kGroupCounters) {
    snapshot.counters[name] = static_cast<double>(sum.*counter);
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
  const auto put = [&](const std::string& name, const Counter& counter) {
    snapshot.counters[name] = static_cast<double>(counter.value());
  };
  put("completed", counted.completed);
  put("failed", counted.failed);
  put("misplaced_requests", counted.misplaced);
  put("latch_waits", counted.latch_waits);
  put("sampled_requests", counted.sampled_requests);
  put("voluntary_switches", counted.voluntary_switches);
  put("involuntary_switches", counted.involuntary_switches);
  for (std::size_t i = 0; i < kWaitKinds; ++i)
    put(std::string("waits_") + kWaitKindNames[i], counted.waits[i]);
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
