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

// The first three are knobs of the pool tuple and stand in its table, the others
// in the one below.
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

inline std::span<const SettingField<GroupSettings>> GroupSettings::fields() {
  using S = GroupSettings;
  // A limit of -1 is below every number of active threads, one of kMostThreads above.
  static constexpr int kMostThreads = 65'536;
  static constexpr const char* kActive = "active threads";
  static constexpr SettingField<S> kFields[] = {
      {&S::queue_put_limit, "queue_put_limit", kActive, -1, kMostThreads,
       "Up to so many, a request put into the queue wakes or creates a thread."},
      {&S::wake_top_limit, "wake_top_limit", kActive, -1, kMostThreads,
       "Up to so many, the creation of a thread is not throttled."},
      choice_field<S, &S::above_wake_top>(
          kAboveWakeTopNames, "above_wake_top",
          "What becomes of a thread's creation above that limit: throttled, or forbidden while a "
          "thread is active."),
      {&S::listener_wake_limit, "listener_wake_limit", kActive, -1, kMostThreads,
       "Up to so many, the listener wakes a thread for what it has found."},
      {&S::listener_create_limit, "listener_create_limit", kActive, -1, kMostThreads,
       "Up to so many, the listener creates a thread where it could wake none."},
      {&S::dedicated_listener, "dedicated_listener", "switch", 0, 1,
       "Keeps the listener from taking a request itself."},
      choice_field<S, &S::throttle>(kThrottleNames, "throttle",
                                    "Whose rule says how soon a group may create another thread.")};
  return kFields;
}

}  // namespace poolpilot
