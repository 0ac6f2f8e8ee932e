// What a group is told by its server; every default is MariaDB's.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "policy/throttle.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

// What happens to the creation of a thread above wake_top_limit: it is throttled, as in MariaDB, or
// there is none, as in Trub (adaptive pool; docs/references.md).
enum class AboveWakeTop : std::uint8_t { kThrottled, kForbidden };
inline constexpr std::array kAboveWakeTopNames{"throttled", "forbidden"};

// The first three are knobs of the pool tuple and stand in its table, the others in
// group_settings.cpp.
struct GroupSettings {
  int oversubscribe = 3;
  int timer_interval_ms = 500;
  bool create_thread_on_wait = true;
  int queue_put_limit = 0;
  int wake_top_limit = 0;
  AboveWakeTop above_wake_top = AboveWakeTop::kThrottled;
  int listener_wake_limit = 0;
  int listener_create_limit = 0;
  bool dedicated_listener = false;
  ThrottlePolicy throttle = ThrottlePolicy::kMariaDb;

  bool operator==(const GroupSettings&) const = default;

  static std::span<const SettingField<GroupSettings>> fields();
};

}  // namespace poolpilot
