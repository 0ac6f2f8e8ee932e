#include "pool/settings.hpp"

namespace poolpilot {
namespace {

using S = PoolSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    {&S::max_pool_size, "max_pool_size", "groups", 1, kMaxGroups,
     "Largest pool_size until the next start."},
    {&S::max_threads, "max_threads", "threads", 2, 65'536,
     "Most threads of all groups together; of per_connection max_connections is the limit."},
    {&S::prio_kickup_ms, "prio_kickup_ms", "milliseconds", 0, 3'600'000,
     "Time after which a request in the low level of the queue goes to the high one."},
    {&S::record_events, "record_events", "switch", 0, 1,
     "Keeps the events of every group for replay."}};

}  // namespace

std::span<const Field> PoolSettings::fields() { return kFields; }

void check_tuple(const PoolSettings& settings) {
  check_range("max_pool_size", settings.max_pool_size, 1, kMaxGroups);
  check(settings.tuple, settings.max_pool_size);
}

}  // namespace poolpilot
