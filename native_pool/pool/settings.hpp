// What any pool is told, live or simulated: knobs that may change while it serves, and what is
// fixed at its start. What each one means stands once, in the tables.
#pragma once

#include <span>
#include <tuple>

#include "policy/group_settings.hpp"
#include "pool/handler_settings.hpp"
#include "pool/setting.hpp"
#include "pool/tuple.hpp"

namespace poolpilot {

struct PoolSettings {
  PoolTuple tuple;
  HandlerSettings handling;
  GroupSettings group;  // oversubscribe, timer and create_thread_on_wait come from the tuple
  int max_pool_size = 128;
  int max_threads = 65'536;
  int prio_kickup_ms = 1000;
  bool record_events = false;

  static std::span<const SettingField<PoolSettings>> fields();
  static constexpr auto parts() {
    return std::tuple(&PoolSettings::tuple, &PoolSettings::handling, &PoolSettings::group);
  }
};

// The ceiling first and then the tuple under it, so that a refused pool_size is told the range that
// it has here and not the widest one. Throws std::invalid_argument.
void check_tuple(const PoolSettings& settings);

}  // namespace poolpilot
