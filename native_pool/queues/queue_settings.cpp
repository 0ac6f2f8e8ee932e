#include "queues/queue_settings.hpp"

#include <algorithm>
#include <cmath>

#include "queues/disciplines/combination.hpp"
#include "queues/step.hpp"

namespace poolpilot {
namespace {

using S = QueueSettings;

constexpr double kMostMs = 3'600'000;
constexpr double kWeightError = 1e-6;

constexpr SettingField<QueueSpec> kSpecFields[] = {
    {&QueueSpec::weight, "weight", "share", 0, 1,
     "Share of the queue; one of 0 is served only while all others are empty."},
    {&QueueSpec::deadline_ms, "deadline_ms", "milliseconds", kKickUpDeadline, kMostMs,
     "Time after which a request goes up to the queue before; 0: never, -1: as prio_kickup_ms."},
    {&QueueSpec::urgency_ms, "urgency_ms", "milliseconds", 0, kMostMs,
     "In a container of urgency a request goes before those that have waited for less than theirs "
     "is larger."}};

constexpr SettingField<QueueRule> kRuleFields[] = {
    {&QueueRule::class_id, "class_id", "class", kAnyClass, kClasses - 1,
     "The class of the requests; -1: any."},
    choice_field<QueueRule, &QueueRule::transaction>(
        kTransactionNames, "transaction",
        "Whether the connection is in the middle of a transaction."),
    {&QueueRule::queue, "queue", "number", 0, kMaxQueues - 1, "The queue they go to."}};

constexpr SettingField<S> kFields[] = {
    choice_field<S, &S::discipline>(kDisciplineNames, "discipline",
                                    "The order in which queued requests are served."),
    choice_field<S, &S::dequeue>(kDequeueNames, "dequeue", "Which queue is served next."),
    choice_field<S, &S::enqueue>(kEnqueueNames, "enqueue",
                                 "Whether every queue is kept apart or all are one."),
    choice_field<S, &S::container>(kContainerNames, "container",
                                   "The order of requests within a queue."),
    choice_field<S, &S::next_queue>(kNextQueueNames, "next_queue",
                                    "Which queue is served where the one that should be is empty."),
    choice_field<S, &S::share_of>(kShareOfNames, "share_of",
                                  "What the shares of cbwfq are shares of."),
    choice_field<S, &S::class_known>(kClassKnownNames, "class_known",
                                     "How the class of a request is known while it queues."),
    {&S::default_queue, "default_queue", "number", -1, kMaxQueues - 1,
     "Where requests go that no rule maps; -1: the last queue."},
    {&S::round_ms, "round_ms", "milliseconds", 0.001, 60'000,
     "Time of a worker that deficit_round_robin deals out in one round, by weight."},
    {&S::queue_seed, "queue_seed", "number", 0, 2'147'483'647, "Seed of the draws by weight."}};

// Those of MariaDB: high within a transaction, low otherwise, and whoever waits long goes up.
const std::vector<QueueSpec> kMariaDbQueues{{}, {0.0, kKickUpDeadline, 0.0}};
const std::vector<QueueRule> kMariaDbRules{{kAnyClass, Transaction::kInside, 0},
                                           {kAnyClass, Transaction::kOutside, 1}};

template <typename Choice>
void choose_unless_set(Choice& chosen, Choice of_discipline) {
  if (chosen == Choice::kOfDiscipline) chosen = of_discipline;
}

void check_sum(std::span<const double> weights) {
  double sum = 0.0;
  for (const double weight : weights) {
    check_range("weight", weight, 0, 1);
    sum += weight;
  }
  if (std::abs(sum - 1.0) > kWeightError) refuse_setting("sum of the weights", sum, "1");
}

// A deadline below 0 would lift every request at each look.
void check_deadline(const QueueSpec& spec) {
  if (spec.deadline_ms >= 0.0 || spec.deadline_ms == kKickUpDeadline) return;
  refuse_setting("deadline_ms", spec.deadline_ms, "at least 0, or -1 for that of prio_kickup_ms");
}

void check_queues(const QueueSettings& settings) {
  const std::vector<QueueSpec>& queues = settings.queues;
  if (settings.discipline == Discipline::kMariaDb) {
    check_range("number of queues of mariadb", queues.size(), 2, 2);
  }
  check_range("number of queues", queues.size(), 1, kMaxQueues);
  bool ages = false;
  for (const QueueSpec& spec : queues) {
    require_ranges(spec);
    check_deadline(spec);
    ages = ages || spec.deadline_ms != 0.0;
  }
  if (ages && settings.container != Container::kFifo) {
    refuse_setting("container", kContainerNames[static_cast<std::size_t>(settings.container)],
                   "fifo where a queue has a deadline_ms");
  }
  if (settings.discipline == Discipline::kImpatient && !ages) {
    refuse_setting("deadline_ms", 0, "above 0 for a queue of impatient");
  }
  std::vector<double> weights;
  for (const QueueSpec& spec : queues) weights.push_back(spec.weight);
  if (uses_weights(settings)) check_sum(weights);
}

}  // namespace

std::span<const SettingField<QueueSpec>> QueueSpec::fields() { return kSpecFields; }
std::span<const SettingField<QueueRule>> QueueRule::fields() { return kRuleFields; }
std::span<const SettingField<S>> S::fields() { return kFields; }

QueueSettings resolved(const QueueSettings& settings) {
  QueueSettings result = settings;
  const Combination rules = combination_of(settings.discipline);
  choose_unless_set(result.dequeue, rules.dequeue);
  choose_unless_set(result.enqueue, rules.enqueue);
  choose_unless_set(result.container, rules.container);
  choose_unless_set(result.next_queue, rules.next_queue);
  const bool mariadb = settings.discipline == Discipline::kMariaDb;
  if (mariadb && result.queues.empty()) result.queues = kMariaDbQueues;
  if (mariadb && result.rules.empty()) result.rules = kMariaDbRules;
  if (settings.discipline == Discipline::kFifo && result.queues.empty()) result.queues = {{}};
  if (result.default_queue < 0) result.default_queue = static_cast<int>(result.queues.size()) - 1;
  return result;
}

bool uses_weights(const QueueSettings& settings) {
  switch (settings.dequeue) {
    case Dequeue::kWeighted:
    case Dequeue::kFair:
    case Dequeue::kLowLatency:
    case Dequeue::kWeightedRoundRobin:
    case Dequeue::kDeficitRoundRobin:
      return true;
    default:
      return settings.next_queue == NextQueue::kGreatestWeight;
  }
}

void check(const QueueSettings& settings) {
  require_ranges(settings);
  const QueueSettings chosen = resolved(settings);
  check_queues(chosen);
  const double last = static_cast<double>(chosen.queues.size()) - 1;
  check_range("default_queue", settings.default_queue, -1, last);
  for (const QueueRule& rule : chosen.rules) {
    require_ranges(rule);
    check_range("queue", rule.queue, 0, last);
  }
}

void check_weights(const QueueSettings& settings, std::span<const double> weights) {
  const QueueSettings chosen = resolved(settings);
  const auto queues = static_cast<double>(chosen.queues.size());
  check_range("number of weights", weights.size(), queues, queues);
  if (!uses_weights(chosen)) {
    refuse_setting("discipline", kDisciplineNames[static_cast<std::size_t>(settings.discipline)],
                   "one with weights, so that they can be set");
  }
  check_sum(weights);
}

}  // namespace poolpilot
