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

// What each thread group is told of the two.
GroupSettings group_settings(const PoolTuple& tuple, const PoolKnobs& knobs);

}  // namespace poolpilot
