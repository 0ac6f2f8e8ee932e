#include "live/settings.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace poolpilot {
namespace {

template <typename T>
void check_range(const char* name, T value, T low, T high) {
  if (value >= low && value <= high) return;  // false for NaN
  std::ostringstream text;
  text << name << " = " << value << " is outside its range " << low << ".." << high;
  throw std::invalid_argument(text.str());
}

}  // namespace

void check(const PoolTuple& tuple, int max_pool_size) {
  check_range("pool_size", tuple.pool_size, 1, max_pool_size);
  check_range("oversubscribe", tuple.oversubscribe, 1, 1000);
  check_range("timer_interval_ms", tuple.timer_interval_ms, 1, 3'600'000);
  check_range("idle_timeout_s", tuple.idle_timeout_s, 0.01, 1e6);
}

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
