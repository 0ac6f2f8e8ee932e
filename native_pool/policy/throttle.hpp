// How soon after the last one a group may create another thread.
#pragma once

#include <array>
#include <cstdint>

namespace poolpilot {

enum class ThrottlePolicy : std::uint8_t { kMariaDb, kPercona };
inline constexpr std::array kThrottleNames{"mariadb", "percona"};

// Microseconds that must have passed since the group's last thread creation.
//
// MariaDB (sql/threadpool_generic.cc): 0 below 1 + oversubscribe threads, 50 ms below 8, 100 ms
// below 16, then 20 ms, all times the *integer* quotient timer / max(500, timer): a timer under 500
// ms switches throttling off. Percona (sql/threadpool_unix.cc): 0/50/100/200 ms at 4/8/16, no
// factor.
constexpr std::int64_t throttle_interval_us(ThrottlePolicy policy, int thread_count,
                                            int oversubscribe, int timer_interval_ms) {
  const bool mariadb = policy == ThrottlePolicy::kMariaDb;
  const int free_threads = mariadb ? 1 + oversubscribe : 4;
  const std::int64_t factor =
      mariadb ? timer_interval_ms / (timer_interval_ms > 500 ? timer_interval_ms : 500) : 1;
  if (thread_count < free_threads) return 0;
  if (thread_count < 8) return 50'000 * factor;
  if (thread_count < 16) return 100'000 * factor;
  return (mariadb ? 20'000 : 200'000) * factor;
}

}  // namespace poolpilot
