#include "live/settings.hpp"

#include "pool/step.hpp"

namespace poolpilot {
namespace {

using S = LivePoolSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    {&S::max_connections, "max_connections", "connections", 1, 65'536,
     "Most clients at once; a further one is refused."},
    {&S::wait_timeout_s, "wait_timeout_s", "seconds", 0.01, 31'536'000,
     "A client that is silent for longer is closed, as in MariaDB."},
    {&S::hang_up_at_once, "hang_up_at_once", "switch", 0, 1,
     "Closes a connection as soon as a poll tells that its client is gone; "
     "off: its next read finds out."}};

}  // namespace

std::span<const Field> LivePoolSettings::fields() { return kFields; }

void check(const LivePoolSettings& settings) {
  check_pool(settings);
  require_ranges(settings);
  check(settings.handling.hybrid);
  check_range("number of class names", settings.class_names.size(), 0, kClasses);
  for (const int cpu : settings.cpus) check_range("cpu", cpu, 0, 1023);
}

}  // namespace poolpilot
