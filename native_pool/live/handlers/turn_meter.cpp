#include "live/handlers/turn_meter.hpp"

#include <algorithm>

namespace poolpilot {
namespace {

constexpr std::int64_t kResolutionNs = 1'000;  // the kernel tells whole microseconds

std::int64_t ns_of(const timeval& time) {
  return (std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1'000;
}

std::int64_t cpu_ns(const rusage& usage) { return ns_of(usage.ru_utime) + ns_of(usage.ru_stime); }

}  // namespace

void TurnMeter::begin() {
  looks_ = turns_ == 0;
  turns_ = (turns_ + 1) % kOneIn;
  if (looks_) getrusage(RUSAGE_THREAD, &begun_);
}

std::optional<MeteredTurn> TurnMeter::end(std::int64_t lasted_ns) {
  if (!looks_) return std::nullopt;
  rusage ended{};
  getrusage(RUSAGE_THREAD, &ended);
  if (ended.ru_nvcsw != begun_.ru_nvcsw) return MeteredTurn{lasted_ns, true};
  return MeteredTurn{std::max(cpu_ns(ended) - cpu_ns(begun_), kResolutionNs), false};
}

}  // namespace poolpilot
