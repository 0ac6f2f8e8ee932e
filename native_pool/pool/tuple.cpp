#include "pool/tuple.hpp"

#include "pool/range.hpp"

namespace poolpilot {

void check(const PoolTuple& tuple, int max_pool_size) {
  check_range("pool_size", tuple.pool_size, 1, max_pool_size);
  check_range("oversubscribe", tuple.oversubscribe, 1, 1000);
  check_range("timer_interval_ms", tuple.timer_interval_ms, 1, 3'600'000);
  check_range("idle_timeout_s", tuple.idle_timeout_s, 0.01, 1e6);
}

}  // namespace poolpilot
