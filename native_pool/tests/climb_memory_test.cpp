// update() allocates nothing, however the climb goes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/played_curve.hpp"

namespace {

thread_local long allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace poolpilot {
namespace {

TEST(Memory, UpdateAllocatesNothing) {
  SpectralClimber climber(small_server(), 8, {.min = 1, .max = 1024});
  PlayedCurve curve(arch(300, 0.4), 1024, 0.05);
  int size = climber.size();
  const long before = allocations;
  long updates = 0;
  for (int shift = 0; shift < 20; ++shift) {
    curve.connections = shift % 5 == 4 ? 0.0 : 2048.0;
    for (int i = 0; i < 400; ++i) {
      size = curve.play(climber, i % 97 == 0 ? size + 1 : size);
      ++updates;
    }
  }
  EXPECT_EQ(allocations - before, 0) << "in " << updates << " updates";
  EXPECT_TRUE(logged(climber, "changed from outside"));
}

}  // namespace
}  // namespace poolpilot
