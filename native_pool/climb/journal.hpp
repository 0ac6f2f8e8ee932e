// The latest decision of a climber and, where that is wanted, those before it.
#pragma once

#include <cstddef>

#include "climb/settings.hpp"
#include "queues/ring.hpp"

namespace poolpilot {

template <typename Record>
class Journal {
 public:
  explicit Journal(const SpectralSettings& settings) { adopt(settings); }

  // Records kept so far stay, up to the new limit.
  void adopt(const SpectralSettings& settings) {
    limit_ = settings.hcm_log_enabled ? static_cast<std::size_t>(settings.log_limit) : 0;
    records_.reserve(limit_);
    while (records_.size() > limit_) records_.pop_front();
  }

  void add(const Record& record) {
    latest_ = record;
    if (limit_ == 0) return;
    if (records_.size() == limit_) records_.pop_front();
    records_.push_back(record);
  }

  const Record& latest() const { return latest_; }
  const Ring<Record>& records() const { return records_; }

 private:
  std::size_t limit_ = 0;
  Record latest_;
  Ring<Record> records_;
};

}  // namespace poolpilot
