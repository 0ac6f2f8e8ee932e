// What any pool is told, live or simulated: knobs that may change while it serves, and what is
// fixed at its start. What each one means stands once, in the tables.
#pragma once

#include <span>
#include <tuple>

#include "handlers/handler_settings.hpp"
#include "pool/knobs.hpp"
#include "pool/tuple.hpp"
#include "queues/queue_settings.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

struct PoolSettings {
  PoolTuple tuple;
  HandlerSettings handling;
  PoolKnobs knobs;
  QueueSettings queues;
  int max_pool_size = 128;
  bool record_events = false;

  static std::span<const SettingField<PoolSettings>> fields();
  static constexpr auto parts() {
    return std::tuple(&PoolSettings::tuple, &PoolSettings::handling, &PoolSettings::knobs,
                      &PoolSettings::queues);
  }
};

inline std::span<const SettingField<PoolSettings>> PoolSettings::fields() {
  using S = PoolSettings;
  static constexpr SettingField<S> kFields[] = {
      {&S::max_pool_size, "max_pool_size", "groups", 1, kMaxGroups,
       "Largest pool_size until the next start."},
      {&S::record_events, "record_events", "switch", 0, 1,
       "Keeps the events of every group for replay."}};
  return kFields;
}

// Throws std::invalid_argument, with the knob, its value and its range, unless a pool of these
// settings can have these knobs.
inline void check_knobs(const PoolSettings& settings, const PoolKnobs& knobs) {
  require_ranges(knobs);
  if (!knobs.weights.empty()) check_weights(settings.queues, knobs.weights);
  // Only thread groups can park who must wait.
  const int limit = knobs.admission.admission_limit;
  if (limit == 0 || settings.handling.handler == HandlerKind::kPool) return;
  refuse_setting("admission_limit", limit, "0 unless the handler is pool");
}

// What any pool checks. The ceiling first and then the tuple under it, so that a refused pool_size
// is told the range that it has here and not the widest one. Throws std::invalid_argument.
inline void check_pool(const PoolSettings& settings) {
  check_range("max_pool_size", settings.max_pool_size, 1, kMaxGroups);
  check(settings.tuple, settings.max_pool_size);
  check(settings.queues);
  check_knobs(settings, settings.knobs);
}

}  // namespace poolpilot
