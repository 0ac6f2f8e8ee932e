#include "pool/settings.hpp"

namespace poolpilot {
namespace {

using S = PoolSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {{&S::max_pool_size, "max_pool_size", "groups", 1, kMaxGroups,
                              "Largest pool_size until the next start."},
                             {&S::record_events, "record_events", "switch", 0, 1,
                              "Keeps the events of every group for replay."}};

}  // namespace

std::span<const Field> PoolSettings::fields() { return kFields; }

void check_pool(const PoolSettings& settings) {
  check_range("max_pool_size", settings.max_pool_size, 1, kMaxGroups);
  check(settings.tuple, settings.max_pool_size);
  check(settings.queues);
  check_knobs(settings, settings.knobs);
}

void check_knobs(const PoolSettings& settings, const PoolKnobs& knobs) {
  require_ranges(knobs);
  if (!knobs.weights.empty()) check_weights(settings.queues, knobs.weights);
  // Only thread groups can park who must wait.
  const int limit = knobs.admission.admission_limit;
  if (limit == 0 || settings.handling.handler == HandlerKind::kPool) return;
  refuse_setting("admission_limit", limit, "0 unless the handler is pool");
}

}  // namespace poolpilot
