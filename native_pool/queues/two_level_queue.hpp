// MariaDB's request queue: two FIFO levels, and old items of the low one are kicked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "queues/ring.hpp"

namespace poolpilot {

enum class Priority : std::uint8_t { kHigh, kLow };

template <typename Item>
class TwoLevelQueue {
 public:
  // `now_us` is that of the last tick, as in MariaDB: an item counts as up to a tick older.
  void put(Item item, Priority priority, std::int64_t now_us) {
    (priority == Priority::kHigh ? high_ : low_).push_back({std::move(item), now_us});
  }

  // Undefined on an empty queue.
  Item take() {
    auto& level = high_.empty() ? low_ : high_;
    Item item = std::move(level.front().item);
    level.pop_front();
    return item;
  }

  // Moves items that waited in the low level for longer than `kickup_us` to the high one.
  void kick_up(std::int64_t now_us, std::int64_t kickup_us) {
    while (!low_.empty() && now_us - low_.front().since_us > kickup_us) {
      high_.push_back(std::move(low_.front()));
      low_.pop_front();
    }
  }

  std::size_t size() const { return high_.size() + low_.size(); }
  bool empty() const { return high_.empty() && low_.empty(); }

 private:
  struct Entry {
    Item item;
    std::int64_t since_us;
  };
  Ring<Entry> high_;
  Ring<Entry> low_;
};

}  // namespace poolpilot
