// What may change while a pool serves, besides the tuple.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "policy/admission_settings.hpp"
#include "policy/group_settings.hpp"
#include "pool/tuple.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

struct PoolKnobs {
  GroupSettings group;  // oversubscribe, timer and create_thread_on_wait come from the tuple
  AdmissionSettings admission;
  int max_threads = 65'536;
  int prio_kickup_ms = 1000;
  std::vector<double> weights;  // of the queues; empty: those of their settings

  bool operator==(const PoolKnobs&) const = default;

  static std::span<const SettingField<PoolKnobs>> fields();
  static constexpr auto parts() { return std::tuple(&PoolKnobs::group, &PoolKnobs::admission); }
};

inline std::span<const SettingField<PoolKnobs>> PoolKnobs::fields() {
  using K = PoolKnobs;
  static constexpr SettingField<K> kFields[] = {
      {&K::max_threads, "max_threads", "threads", 2, 65'536,
       "Most threads of all groups together; of per_connection max_connections is the limit."},
      {&K::prio_kickup_ms, "prio_kickup_ms", "milliseconds", 0, 3'600'000,
       "Time after which a request in the low level of the queue goes to the high one."}};
  return kFields;
}

// What each thread group is told of the two.
inline GroupSettings group_settings(const PoolTuple& tuple, const PoolKnobs& knobs) {
  GroupSettings group = knobs.group;
  group.oversubscribe = tuple.oversubscribe;
  group.timer_interval_ms = tuple.timer_interval_ms;
  group.create_thread_on_wait = tuple.create_thread_on_wait;
  return group;
}

}  // namespace poolpilot
