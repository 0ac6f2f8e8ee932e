#include "queues/classifier.hpp"

#include <algorithm>
#include <utility>

namespace poolpilot {
namespace {

bool fits(const QueueRule& rule, int class_id, bool in_transaction) {
  if (rule.class_id != kAnyClass && rule.class_id != class_id) return false;
  return rule.transaction == Transaction::kEither ||
         (rule.transaction == Transaction::kInside) == in_transaction;
}

}  // namespace

Classifier::Classifier(const QueueSettings& settings)
    : last_(settings.queues.size() - 1),
      default_(static_cast<std::size_t>(settings.default_queue)),
      by_class_(std::ranges::any_of(
          settings.rules, [](const QueueRule& one) { return one.class_id != kAnyClass; })) {
  for (std::size_t row = 0; row < queue_of_.size(); ++row) {
    const int class_id = row == kClasses ? kAnyClass : static_cast<int>(row);
    for (const bool inside : {false, true}) {
      const auto rule = std::ranges::find_if(
          settings.rules, [&](const QueueRule& one) { return fits(one, class_id, inside); });
      queue_of_[row][inside ? 1 : 0] =
          rule == settings.rules.end() ? kUnmapped : static_cast<std::int8_t>(rule->queue);
    }
  }
}

std::size_t Classifier::queue_of(const RequestKey& key) {
  if (key.priority == SessionPriority::kHigh) return first_;
  if (key.priority == SessionPriority::kLow) return last_;
  return mapped(key);
}

std::size_t Classifier::mapped(const RequestKey& key) {
  const bool known = key.class_id >= 0 && std::cmp_less(key.class_id, kClasses);
  const std::size_t row = known ? static_cast<std::size_t>(key.class_id) : kClasses;
  const std::int8_t queue = queue_of_[row][key.in_transaction ? 1 : 0];
  if (queue != kUnmapped) return static_cast<std::size_t>(queue);
  ++unmapped_;
  return default_;
}

}  // namespace poolpilot
