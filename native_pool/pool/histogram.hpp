// The log-linear histogram of featurizer/histogram.py: same buckets, mergeable, one writer.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace poolpilot {

inline constexpr int kSubBucketBits = 4;
inline constexpr int kOctaves = 36;
inline constexpr std::size_t kBuckets = static_cast<std::size_t>(kOctaves + 1) << kSubBucketBits;

// Index of the bucket that holds `value`; values past the last octave share the last bucket.
constexpr std::size_t bucket_of(std::uint64_t value) {
  const int octave = static_cast<int>(std::bit_width(value)) - kSubBucketBits;
  if (octave <= 0) return static_cast<std::size_t>(value);
  const std::size_t index = (static_cast<std::size_t>(octave) << kSubBucketBits) +
                            static_cast<std::size_t>(value >> (octave - 1)) -
                            (std::size_t{1} << kSubBucketBits);
  return index < kBuckets ? index : kBuckets - 1;
}

// A copy that can be added up: what a snapshot carries.
struct HistogramCounts {
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(kBuckets, 0);
  double total = 0.0;
  double total_squares = 0.0;

  void record(std::uint64_t value) {
    const auto real = static_cast<double>(value);
    ++counts[bucket_of(value)];
    total += real;
    total_squares += real * real;
  }
};

// Written by one thread, read by any. Every store is relaxed: a reader may see a count before the
// sum it belongs to, which shifts a mean by at most one observation of a whole window.
class Histogram {
 public:
  void record(std::uint64_t value) {
    bump(counts_[bucket_of(value)], std::int64_t{1});
    const auto real = static_cast<double>(value);
    bump(total_, real);
    bump(total_squares_, real * real);
  }

  void add_to(HistogramCounts& sum) const {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      sum.counts[i] += counts_[i].load(std::memory_order_relaxed);
    }
    sum.total += total_.load(std::memory_order_relaxed);
    sum.total_squares += total_squares_.load(std::memory_order_relaxed);
  }

 private:
  // Load and store instead of fetch_add: there is one writer, so no locked instruction is needed.
  template <typename T>
  static void bump(std::atomic<T>& cell, T by) {
    cell.store(cell.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::int64_t>, kBuckets> counts_{};
  std::atomic<double> total_{0.0};
  std::atomic<double> total_squares_{0.0};
};

}  // namespace poolpilot
