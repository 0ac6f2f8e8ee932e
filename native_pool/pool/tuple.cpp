#include "pool/tuple.hpp"

namespace poolpilot {
namespace {

using S = PoolTuple;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    {&S::pool_size, "pool_size", "groups", 1, kMaxGroups,
     "Thread groups that connections are spread over; up to max_pool_size."},
    {&S::oversubscribe, "oversubscribe", "threads", 1, 1000,
     "Active threads that a group tolerates beyond the first."},
    {&S::timer_interval_ms, "timer_interval_ms", "milliseconds", 1, 3'600'000,
     "Time between two looks at groups that have stalled."},
    {&S::create_thread_on_wait, "create_thread_on_wait", "switch", 0, 1,
     "Lets a reported wait wake or create a thread in the place of the one that waits."},
    {&S::idle_timeout_s, "idle_timeout_s", "seconds", 0.01, 1e6,
     "Time after which a thread that sleeps ends."}};

}  // namespace

std::span<const Field> PoolTuple::fields() { return kFields; }

void check(const PoolTuple& tuple, int max_pool_size) {
  check_range("pool_size", tuple.pool_size, 1, max_pool_size);
  require_ranges(tuple);
}

}  // namespace poolpilot
