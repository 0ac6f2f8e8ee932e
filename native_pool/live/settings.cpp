#include "live/settings.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include "queues/step.hpp"

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

// Two of a name would have one histogram in a snapshot, that of the last.
void check_class_names(const std::vector<std::string>& names) {
  check_range("number of class names", names.size(), 0, kClasses);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw std::invalid_argument("Two classes are named '" + name + "'; names must differ.");
    }
  }
}

}  // namespace

std::span<const Field> LivePoolSettings::fields() { return kFields; }

void check(const LivePoolSettings& settings) {
  check_pool(settings);
  require_ranges(settings);
  check(settings.handling.hybrid);
  check_class_names(settings.class_names);
  for (const int cpu : settings.cpus) check_range("cpu", cpu, 0, 1023);
}

}  // namespace poolpilot
