// Queues for tests: settings with one queue a class, and items that say their class.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "queues/request_queues.hpp"

namespace poolpilot {

// Requests of class i go to queue i.
inline QueueSettings by_class(Discipline discipline, const std::vector<QueueSpec>& queues) {
  QueueSettings settings;
  settings.discipline = discipline;
  settings.queues = queues;
  for (int i = 0; std::cmp_less(i, queues.size()); ++i) {
    settings.rules.push_back({i, Transaction::kEither, i});
  }
  return settings;
}

inline QueueSettings weighted(Discipline discipline, const std::vector<double>& weights) {
  std::vector<QueueSpec> queues;
  for (const double weight : weights) queues.push_back({.weight = weight});
  return by_class(discipline, queues);
}

using TestQueues = RequestQueues<int>;

inline void put(TestQueues& queues, int item, int class_id, std::int64_t now_us = 0) {
  queues.put(item, {.class_id = class_id}, now_us);
}

// Everything that is queued, in the order in which it is taken.
inline std::vector<int> drained(TestQueues& queues) {
  std::vector<int> items;
  while (!queues.empty()) items.push_back(queues.take().item);
  return items;
}

// Queues that always have something of every class: how often each is served, and for how long.
struct Saturated {
  std::vector<double> taken;
  std::vector<double> time_us;
  std::vector<int> longest_gap;  // most requests of others between two of the class

  // A request of class i takes `served_us[i]`.
  Saturated(const QueueSettings& settings, const std::vector<double>& served_us, int requests)
      : taken(served_us.size()), time_us(served_us.size()), longest_gap(served_us.size()) {
    check(settings);
    TestQueues queues(settings, 0);
    const int classes = static_cast<int>(served_us.size());
    for (int i = 0; i < 2 * classes; ++i) put(queues, i % classes, i % classes);
    std::vector<int> gap(served_us.size());
    for (int i = 0; i < requests; ++i) {
      const TestQueues::Taken one = queues.take();
      const auto served = static_cast<std::size_t>(one.item);
      queues.serve(one, served_us[served]);
      put(queues, one.item, one.item);
      taken[served] += 1.0 / requests;
      time_us[served] += served_us[served];
      for (std::size_t j = 0; j < gap.size(); ++j) {
        gap[j] = j == served ? 0 : gap[j] + 1;
        longest_gap[j] = std::max(longest_gap[j], gap[j]);
      }
    }
    double all_us = 0.0;
    for (const double one_us : time_us) all_us += one_us;
    for (double& one_us : time_us) one_us /= all_us;
  }
};

}  // namespace poolpilot
