// Laws that hold for any simulation, on random ones. POOLPILOT_SIMULATIONS sets how many (200).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/environment.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot::sim {
namespace {

constexpr std::int64_t kMostEvents = 100'000;
constexpr double kSeconds = 2.0;

int simulations() { return number_from_environment("POOLPILOT_SIMULATIONS", 200); }

// Draws everything that can be set.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, 99) {}

  SimulationSettings settings() {
    SimulationSettings drawn;
    drawn.load.connections = whole(1, chance(0.05) ? 2'000 : 100);
    const int classes = whole(1, std::min(3, drawn.load.connections));
    for (int i = 0; i < classes; ++i) drawn.load.classes.push_back(request_class(i));
    drawn.load.seed = random_.bits();
    drawn.load.ramp_s = chance(0.5) ? 0.0 : 0.2;
    if (chance(0.25)) drawn.load.rate_per_s = log_uniform(1.0, 1e5);
    drawn.load.backlog_limit = whole(0, 1'000);
    if (chance(0.3)) drawn.load.changes = changes(drawn.load);
    drawn.machine = machine();
    drawn.tuple = {whole(1, chance(0.1) ? 500 : 40), whole(1, 8), chance(0.5) ? 500 : whole(1, 50),
                   chance(0.8), log_uniform(0.01, 60.0)};
    drawn.knobs.group.dedicated_listener = chance(0.2);
    drawn.knobs.group.queue_put_limit = whole(0, 3);
    drawn.knobs.group.wake_top_limit = whole(0, 3);
    drawn.knobs.group.listener_wake_limit = whole(0, 3);
    drawn.knobs.group.listener_create_limit = whole(0, 3);
    drawn.knobs.group.throttle = chance(0.5) ? ThrottlePolicy::kMariaDb : ThrottlePolicy::kPercona;
    drawn.knobs.max_threads = chance(0.1) ? whole(2, 20) : 65'536;
    drawn.latch_timeout_s = chance(0.3) ? 0.0 : log_uniform(0.001, 5.0);
    drawn.handling.handler =
        static_cast<HandlerKind>(whole(0, static_cast<int>(kHandlerNames.size()) - 1));
    if (drawn.handling.handler == HandlerKind::kPool && chance(0.4)) {
      drawn.knobs.admission = {whole(0, 20), chance(0.5) ? 0 : whole(1, 500),
                               chance(0.5) ? 0 : whole(1, 50)};
    }
    return drawn;
  }

 private:
  bool chance(double probability) { return random_.uniform() < probability; }
  int whole(int low, int high) {
    return low + static_cast<int>(random_.below(static_cast<std::uint64_t>(high - low) + 1));
  }
  double log_uniform(double low, double high) {
    return low * std::pow(high / low, random_.uniform());
  }

  Machine machine() {
    Machine drawn;
    drawn.cpus = whole(1, chance(0.2) ? 128 : 8);
    drawn.contention.law = static_cast<Contention::Law>(whole(0, 2));
    drawn.contention.quantum_us = log_uniform(100.0, 10'000.0);
    drawn.contention.switch_us = chance(0.5) ? 0.0 : log_uniform(0.1, 100.0);
    drawn.contention.cache_loss = random_.uniform();
    drawn.contention.seed_loss = 0.1 * random_.uniform();
    drawn.overhead_us = log_uniform(0.1, 50.0);
    drawn.wake_us = chance(0.2) ? 0.0 : log_uniform(0.1, 100.0);
    drawn.create_us = chance(0.2) ? 0.0 : log_uniform(1.0, 1'000.0);
    drawn.wake_cost_us = chance(0.2) ? 0.0 : log_uniform(0.1, 100.0);
    drawn.piece_us = chance(0.5) ? 0.0 : log_uniform(0.1, 50.0);
    drawn.timer_slack_us = chance(0.5) ? 0.0 : log_uniform(1.0, 100.0);
    drawn.client_us = chance(0.5) ? 0.0 : log_uniform(0.1, 50.0);
    drawn.client_shares = chance(0.3);
    drawn.waiter_growth = chance(0.5) ? 0.0 : log_uniform(0.01, 10.0);
    drawn.disks = whole(0, 2);
    drawn.disk_channels = whole(1, 4);
    drawn.flush_us = chance(0.5) ? 0.0 : log_uniform(10.0, 5'000.0);
    drawn.flush_reported = chance(0.5);
    return drawn;
  }

  load::ClassSpec request_class(int number) {
    load::ClassSpec drawn;
    drawn.name = "class " + std::to_string(number);
    drawn.share = log_uniform(0.1, 10.0);
    drawn.think_ms = chance(0.5) ? 0.0 : log_uniform(0.01, 50.0);
    const int steps = whole(0, 6);
    for (int i = 0; i < steps; ++i) drawn.steps.push_back(step());
    return drawn;
  }

  load::StepSpec step() {
    load::StepSpec drawn;
    drawn.op = static_cast<Op>(whole(1, 6));
    drawn.us = chance(0.1) ? 0.0 : log_uniform(1.0, 20'000.0);
    drawn.variation = chance(0.3) ? 0.0 : 2.0 * random_.uniform();
    drawn.kind = static_cast<WaitKind>(whole(0, 3));
    drawn.reported = chance(0.5);
    drawn.latch = whole(0, 3);
    drawn.spread = chance(0.7) ? 1 : whole(1, 8);
    drawn.spin_us = chance(0.5) ? 0 : whole(1, 500);
    drawn.waiter_cost_us = chance(0.5) ? 0.0 : log_uniform(0.1, 50.0);
    return drawn;
  }

  std::vector<LoadChange> changes(const Load& load) {
    LoadChange drawn;
    drawn.at_s = random_.uniform();
    if (load.rate_per_s) drawn.rate_per_s = log_uniform(1.0, 1e5);
    if (chance(0.5)) drawn.connections = whole(0, load.connections);
    if (chance(0.5)) drawn.think_factor = log_uniform(0.1, 10.0);
    if (chance(0.5)) {
      for (std::size_t i = 0; i < load.classes.size(); ++i)
        drawn.shares.push_back(0.1 + random_.uniform());
    }
    return {drawn};
  }

  Random random_;
};

struct Outcome {
  std::int64_t events = 0;
  std::int64_t sent = 0;
  std::int64_t answered = 0;
  double now_s = 0.0;
  double cpu_us = 0.0;
  bool deadlock = false;

  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(const SimulationSettings& settings) {
  SimulatedPool pool(settings);
  Outcome outcome;
  RunLimits limits;
  limits.until_s = kSeconds;
  limits.events = kMostEvents;
  try {
    pool.run(limits);
  } catch (const Deadlock& deadlock) {
    outcome.deadlock = true;
    EXPECT_NE(std::string(deadlock.what()).find("wait"), std::string::npos) << deadlock.what();
  }
  const PoolSnapshot snapshot = pool.snapshot();
  outcome.events = pool.events();
  outcome.sent = pool.sent();
  outcome.answered = pool.answered();
  outcome.now_s = pool.now_s();
  outcome.cpu_us = snapshot.counters.at("process_cpu_us");
  EXPECT_GE(pool.in_flight(), 0);
  EXPECT_LE(pool.in_flight(), settings.load.connections);
  EXPECT_LE(outcome.cpu_us, settings.machine.cpus * outcome.now_s * 1e6 * (1.0 + 1e-9) + 1.0);
  for (const auto& [name, value] : snapshot.counters) EXPECT_GE(value, 0.0) << name;
  for (const auto& [name, value] : snapshot.gauges) EXPECT_GE(value, 0.0) << name;
  EXPECT_LE(snapshot.gauges.at("active_threads"), snapshot.gauges.at("threads"));
  return outcome;
}

TEST(SimulatedPoolProperty, RandomSimulationsKeepTheLaws) {
  int deadlocks = 0;
  std::int64_t answered = 0;
  for (int seed = 0; seed < simulations(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SimulationSettings settings = Draw(static_cast<std::uint64_t>(seed)).settings();
    const Outcome first = outcome_of(settings);
    EXPECT_EQ(first, outcome_of(settings));
    // Time goes on, be it slowly where 128 processors do next to nothing: as many events as that at
    // one instant would be a hang.
    if (!first.deadlock) {
      EXPECT_GT(first.now_s, 1e-5);
    }
    deadlocks += first.deadlock ? 1 : 0;
    answered += first.answered;
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, 10 * simulations());
  EXPECT_LT(deadlocks, simulations() / 2);
}

}  // namespace
}  // namespace poolpilot::sim
