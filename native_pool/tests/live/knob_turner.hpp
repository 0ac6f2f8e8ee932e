// Changes everything that may change while a pool serves, at random.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <system_error>
#include <vector>

#include "live/server.hpp"
#include "tests/queues/queue_plan.hpp"
#include "tests/settings/setting_number.hpp"

namespace poolpilot {

// Queues of any discipline that a pool of two classes can have.
inline QueueSettings any_queues(std::mt19937& random) {
  constexpr std::array kChoices{Discipline::kMariaDb,           Discipline::kFifo,
                                Discipline::kWeighted,          Discipline::kFair,
                                Discipline::kDynamic,           Discipline::kWeightedRoundRobin,
                                Discipline::kDeficitRoundRobin, Discipline::kIsraeli};
  const Discipline discipline = kChoices[random() % kChoices.size()];
  QueueSettings queues;
  queues.discipline = discipline;
  if (discipline != Discipline::kMariaDb && discipline != Discipline::kFifo) {
    queues = weighted(discipline, {0.5, 0.5});
  }
  queues.class_known = static_cast<ClassKnown>(random() % kClassKnownNames.size());
  return queues;
}

class KnobTurner {
 public:
  KnobTurner(const LivePoolSettings& settings, std::mt19937::result_type seed)
      : settings_(settings), random_(seed) {}

  // One change; false where the system refused what it takes.
  bool turn(LivePool& pool) {
    try {
      turn_any(pool);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  // As the pool was started.
  void restore(LivePool& pool) const {
    pool.set_tuple(settings_.tuple);
    pool.set_knobs(settings_.knobs);
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

  void turn_any(LivePool& pool) {
    const bool admits = settings_.handling.handler == HandlerKind::kPool;
    switch (below(admits ? 4 : 3)) {
      case 0:
        pool.set_tuple(any_tuple());
        return;
      case 1:
        return turn_group(pool);
      case 2:
        return turn_pool(pool);
      default:
        return turn_admission(pool);
    }
  }

  PoolTuple any_tuple() {
    return {.pool_size = 1 + below(settings_.max_pool_size),
            .oversubscribe = 1 + below(10),
            .timer_interval_ms = 1 + below(20),
            .create_thread_on_wait = below(4) != 0,
            .idle_timeout_s = below(2) == 0 ? 0.01 : 1.0};
  }

  // Every knob of a group, each from the low end of its range, where it changes most.
  void turn_group(LivePool& pool) {
    PoolKnobs knobs = pool.knobs();
    for (const SettingField<GroupSettings>& field : GroupSettings::fields()) {
      const int span = static_cast<int>(std::min(field.high - field.low, 8.0));
      put_number(knobs.group, field, field.low + below(span + 1));
    }
    pool.set_knobs(knobs);
  }

  void turn_pool(LivePool& pool) {
    PoolKnobs knobs = pool.knobs();
    knobs.max_threads = 2 + below(40);
    knobs.prio_kickup_ms = below(50);
    if (uses_weights(resolved(settings_.queues))) {
      const double weight = below(11) / 10.0;
      knobs.weights = {weight, 1.0 - weight};
    }
    pool.set_knobs(knobs);
  }

  void turn_admission(LivePool& pool) {
    PoolKnobs knobs = pool.knobs();
    knobs.admission = {.admission_limit = below(3) == 0 ? 0 : 1 + below(16),
                       .admission_escape_ms = below(50),
                       .admission_queue_limit = below(8),
                       .admission_exempt_class = below(4) - 1};
    pool.set_knobs(knobs);
  }

  const LivePoolSettings settings_;
  std::mt19937 random_;
};

}  // namespace poolpilot
