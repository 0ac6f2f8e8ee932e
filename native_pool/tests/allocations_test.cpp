// Counts what operator new gives out, and refuses what an AllocationRefusal wants refused.
#include "tests/allocations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

namespace {

thread_local long counted = 0;
thread_local bool spared = false;  // the thread that refuses

// Relaxed: an order that the tests brought in would hide a race from ThreadSanitizer.
constinit std::atomic<long> counted_of_all{0};
constinit std::atomic<bool> refusing{false};
constinit std::atomic<long> before_refusal{0};

bool refuse() {
  return refusing.load(std::memory_order_relaxed) && !spared &&
         before_refusal.fetch_sub(1, std::memory_order_relaxed) == 1;
}

}  // namespace

// The compiler inlines one side of the replaced pair and takes the other for the library's.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  ++counted;
  counted_of_all.fetch_add(1, std::memory_order_relaxed);
  if (refuse()) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace poolpilot {

long allocations() { return counted; }

long allocations_of_others() { return counted_of_all.load(std::memory_order_relaxed) - counted; }

AllocationRefusal::AllocationRefusal(long nth) {
  spared = true;
  before_refusal.store(nth, std::memory_order_relaxed);
  refusing.store(true, std::memory_order_relaxed);
}

AllocationRefusal::~AllocationRefusal() {
  refusing.store(false, std::memory_order_relaxed);
  spared = false;
}

bool AllocationRefusal::refused() { return before_refusal.load(std::memory_order_relaxed) <= 0; }

TEST(Allocations, AreCounted) {
  const long before = allocations();
  const std::vector<int> some(100, 1);
  ASSERT_EQ(some.size(), 100U);
  EXPECT_EQ(allocations(), before + 1);
}

TEST(Allocations, OfOtherThreadsAreCountedApart) {
  long before = 0;
  long after = 0;
  std::thread([&] {
    before = allocations_of_others();
    const std::vector<int> own(100, 1);
    after = allocations_of_others();
    EXPECT_EQ(own.size(), 100U);
  }).join();
  EXPECT_EQ(after, before);
  EXPECT_GT(allocations_of_others(), 0);
}

TEST(Allocations, AreRefusedOnceAndToOtherThreadsOnly) {
  const AllocationRefusal refusal(2);
  const std::vector<int> own(100, 1);
  int given = 0;
  std::thread([&given] {
    for (int i = 0; i < 3; ++i) {
      try {
        const std::vector<int> some(100, 1);
        given += some.front();
      } catch (const std::bad_alloc&) {
        given += 10;
      }
    }
  }).join();
  EXPECT_EQ(given, 12);
  EXPECT_TRUE(AllocationRefusal::refused());
}

}  // namespace poolpilot
