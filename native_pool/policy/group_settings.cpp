#include "policy/group_settings.hpp"

namespace poolpilot {
namespace {

using S = GroupSettings;
using Field = SettingField<S>;

// A limit of -1 is below every number of active threads, one of kMostThreads above.
constexpr int kMostThreads = 65'536;
constexpr const char* kActive = "active threads";

constexpr Field kFields[] = {
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

}  // namespace

std::span<const Field> GroupSettings::fields() { return kFields; }

}  // namespace poolpilot
