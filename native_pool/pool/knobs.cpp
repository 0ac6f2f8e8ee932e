#include "pool/knobs.hpp"

namespace poolpilot {
namespace {

using K = PoolKnobs;

constexpr SettingField<K> kFields[] = {
    {&K::max_threads, "max_threads", "threads", 2, 65'536,
     "Most threads of all groups together; of per_connection max_connections is the limit."},
    {&K::prio_kickup_ms, "prio_kickup_ms", "milliseconds", 0, 3'600'000,
     "Time after which a request in the low level of the queue goes to the high one."}};

}  // namespace

std::span<const SettingField<K>> K::fields() { return kFields; }

GroupSettings group_settings(const PoolTuple& tuple, const PoolKnobs& knobs) {
  GroupSettings group = knobs.group;
  group.oversubscribe = tuple.oversubscribe;
  group.timer_interval_ms = tuple.timer_interval_ms;
  group.create_thread_on_wait = tuple.create_thread_on_wait;
  return group;
}

}  // namespace poolpilot
