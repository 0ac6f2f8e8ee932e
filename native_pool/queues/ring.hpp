// A FIFO in one block of memory that grows and is kept: std::deque frees and allocates as it moves.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace poolpilot {

template <typename Item>
class Ring {
 public:
  void push_back(Item item) {
    if (size_ == items_.size()) grow();
    items_[(first_ + size_) & (items_.size() - 1)] = std::move(item);
    ++size_;
  }

  // Undefined on an empty ring, as pop_front().
  Item& front() { return items_[first_]; }
  const Item& front() const { return items_[first_]; }

  void pop_front() {
    first_ = (first_ + 1) & (items_.size() - 1);
    --size_;
  }

  // The item at `index` from the front; undefined beyond the back.
  const Item& operator[](std::size_t index) const {
    return items_[(first_ + index) & (items_.size() - 1)];
  }
  const Item& back() const { return (*this)[size_ - 1]; }

  // So many items fit without another allocation.
  void reserve(std::size_t items) {
    while (items_.size() < items) grow();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void clear() {
    first_ = 0;
    size_ = 0;
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.empty() ? 8 : 2 * items_.size());
    for (std::size_t i = 0; i < size_; ++i) {
      larger[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
    }
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Item> items_;  // its size is a power of two, so that a mask wraps
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace poolpilot
