#include "handlers/hybrid_settings.hpp"

namespace poolpilot {
namespace {

using S = HybridSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    {&S::max_threads, "hybrid_max_threads", "threads", 2, 65'535,
     "Up to so many connections a pool of hybrid has a thread for each, and so many threads serve "
     "more of them."},
    {&S::min_waiting, "hybrid_min_waiting", "threads", 1, 65'535,
     "So many threads of a pool of hybrid are kept waiting for any connection; up to "
     "hybrid_max_threads."},
    {&S::keep_excess_ms, "hybrid_keep_excess_ms", "milliseconds", 0, 3'600'000,
     "Time after which a further one that waits in vain ends."},
    {&S::share_below_us, "hybrid_share_below_us", "microseconds", 0, 1'000'000,
     "Where a turn takes less than this on average, threads have no connection of their own; 0: "
     "never."}};

}  // namespace

std::span<const Field> HybridSettings::fields() { return kFields; }

void check(const HybridSettings& settings) {
  check_range("hybrid_min_waiting", settings.min_waiting, 1, settings.max_threads);
}

}  // namespace poolpilot
