// update() allocates nothing, however the climb goes.
#include <gtest/gtest.h>

#include "tests/allocations.hpp"
#include "tests/played_curve.hpp"

namespace poolpilot {
namespace {

TEST(Memory, UpdateAllocatesNothing) {
  SpectralClimber climber(small_server(), 8, {.min = 1, .max = 1024});
  PlayedCurve curve(arch(300, 0.4), 1024, 0.05);
  int size = climber.size();
  const long before = allocations();
  long updates = 0;
  for (int shift = 0; shift < 20; ++shift) {
    curve.connections = shift % 5 == 4 ? 0.0 : 2048.0;
    for (int i = 0; i < 400; ++i) {
      size = curve.play(climber, i % 97 == 0 ? size + 1 : size);
      ++updates;
    }
  }
  EXPECT_EQ(allocations() - before, 0) << "in " << updates << " updates";
  EXPECT_TRUE(logged(climber, "changed from outside"));
}

}  // namespace
}  // namespace poolpilot
