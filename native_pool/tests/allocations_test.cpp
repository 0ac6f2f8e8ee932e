// Counts what operator new gives out. In a file of its own: where the compiler sees both sides of a
// replaced pair it warns of a mismatch.
#include "tests/allocations.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace {

thread_local long counted = 0;

}  // namespace

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
  const std::unique_ptr<int[]> some(new int[100]);
  ASSERT_NE(some, nullptr);
  EXPECT_EQ(allocations(), before + 1);
}

}  // namespace poolpilot
