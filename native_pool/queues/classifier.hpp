// Which queue a request goes to, by its class and whether it is part of a transaction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "queues/queue_settings.hpp"
#include "queues/step.hpp"

namespace poolpilot {

// What is known of a request while it queues.
struct RequestKey {
  int class_id = kAnyClass;  // kAnyClass: not known
  bool in_transaction = false;
  SessionPriority priority = SessionPriority::kAuto;
};

// Who sends requests: what is known of the next one before it is read.
struct Sender {
  bool in_transaction = false;
  int declared_class = kAnyClass;
  int last_class = kAnyClass;
  SessionPriority priority = SessionPriority::kAuto;
  std::optional<int> queued_as;  // class it was queued as, where a rule asked for the class
  std::size_t queue = 0;         // that its turn counts for; every group has the same

  // `peeked_class` is what a look at the request has shown.
  RequestKey key(ClassKnown known, int peeked_class) const {
    const int class_id = known == ClassKnown::kDeclared ? declared_class
                         : known == ClassKnown::kLast   ? last_class
                                                        : peeked_class;
    return {class_id, in_transaction, priority};
  }

  // The request is of this class. Whether it was queued as one of another.
  bool was_misplaced(int class_id) {
    last_class = class_id;
    return std::exchange(queued_as, std::nullopt).value_or(class_id) != class_id;
  }
};

class Classifier {
 public:
  // Settings must be resolved.
  explicit Classifier(const QueueSettings& settings);

  std::size_t queue_of(const RequestKey& key);

  // Whether some rule asks for the class.
  bool by_class() const { return by_class_; }

  // Requests that no rule fitted.
  std::int64_t unmapped() const { return unmapped_; }

 private:
  static constexpr std::int8_t kUnmapped = -1;

  std::size_t mapped(const RequestKey& key);

  // By class, the last row for one that is not known, and by transaction.
  std::array<std::array<std::int8_t, 2>, kClasses + 1> queue_of_{};
  std::size_t first_ = 0;
  std::size_t last_;
  std::size_t default_;
  bool by_class_;
  std::int64_t unmapped_ = 0;
};

}  // namespace poolpilot
