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

// What any pool checks. The ceiling first and then the tuple under it, so that a refused pool_size
// is told the range that it has here and not the widest one. Throws std::invalid_argument.
void check_pool(const PoolSettings& settings);

// Throws std::invalid_argument, with the knob, its value and its range, unless a pool of these
// settings can have these knobs.
void check_knobs(const PoolSettings& settings, const PoolKnobs& knobs);

}  // namespace poolpilot
