// Counts what operator new gives out.
#include "tests/allocations.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace {

thread_local long counted = 0;

}  // namespace

// The compiler inlines one side of the replaced pair and takes the other for the library's.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  ++counted;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace poolpilot {

long allocations() { return counted; }

TEST(Allocations, AreCounted) {
  const long before = allocations();
  const std::vector<int> some(100, 1);
  ASSERT_EQ(some.size(), 100U);
  EXPECT_EQ(allocations(), before + 1);
}

}  // namespace poolpilot
