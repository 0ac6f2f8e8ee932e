// What a pool has counted since it started, live or simulated; names are those of
// featurizer/measures.py.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policy/admission.hpp"
#include "policy/group_machine.hpp"
#include "pool/histogram.hpp"
#include "pool/tuple.hpp"
#include "pool/worker_stats.hpp"

namespace poolpilot {

struct PoolSnapshot {
  double time_s = 0.0;
  std::int64_t tuple_epoch = 0;
  PoolTuple tuple;
  std::map<std::string, double> counters;
  std::map<std::string, double> gauges;
  std::map<std::string, HistogramCounts> histograms;
};

// Add up the groups of a pool.
void add(GroupCounters& sum, const GroupCounters& one);
void add(GroupState& sum, const GroupState& one);

void put_group_counts(PoolSnapshot& snapshot, const GroupCounters& counters,
                      const GroupState& state);

void put_admission_counts(PoolSnapshot& snapshot, const AdmissionCounters& counters,
                          const AdmissionState& state);

// Connections that threads of the hybrid handler took from their epoll for themselves, and gave
// back.
void put_hand_overs(PoolSnapshot& snapshot, std::int64_t to_own_socket, std::int64_t to_epoll);

void put_worker_counts(PoolSnapshot& snapshot, const WorkerCounters& counters);

// `counts` has one for every timing; those of the latencies go by `class_names`.
void put_timings(PoolSnapshot& snapshot, std::vector<HistogramCounts> counts,
                 const std::vector<std::string>& class_names);

}  // namespace poolpilot
