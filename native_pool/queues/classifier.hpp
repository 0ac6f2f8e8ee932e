// Which queue a request goes to, by its class and whether it is part of a transaction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "queues/queue_settings.hpp"
#include "queues/step.hpp"

namespace poolpilot {

// What is known of a request while it queues.
struct RequestKey {
  int class_id = kAnyClass;  // kAnyClass: not known
  bool in_transaction = false;
  SessionPriority priority = SessionPriority::kAuto;
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
