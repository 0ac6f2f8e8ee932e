#include "live/settings.hpp"

#include "pool/range.hpp"

namespace poolpilot {

void check(const LivePoolSettings& settings) {
  check_range("max_pool_size", settings.max_pool_size, 1, 4096);
  check_range("max_connections", settings.max_connections, 1, 65'536);
  check_range("max_threads", settings.max_threads, 2, 65'536);
  check_range("prio_kickup_ms", settings.prio_kickup_ms, 0, 3'600'000);
  check_range("wait_timeout_s", settings.wait_timeout_s, 0.01, 31'536'000.0);
  check_range("sample_every", settings.executor.sample_every, 1, 1'000'000);
  check_range("sample_pause_us", settings.executor.sample_pause_us, 0, 60'000'000);
  check_range("latch_timeout_s", settings.executor.latch_timeout_s, 0.001, 3600.0);
  check_range("number of class names", settings.class_names.size(), std::size_t{0}, kClasses);
  for (const int cpu : settings.cpus) check_range("cpu", cpu, 0, 1023);
  check(settings.tuple, settings.max_pool_size);
}

}  // namespace poolpilot
