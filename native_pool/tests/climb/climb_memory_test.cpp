// update() allocates nothing, however the climb goes.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "climb/knobs.hpp"
#include "tests/allocations.hpp"
#include "tests/climb/played_curve.hpp"

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

// Through new settings too, whose log is longer: adopt() reserves what they need.
TEST(Memory, UpdateOfManyKnobsAllocatesNothing) {
  const KnobRange range{.limits = {.min = 1, .max = 128}, .price = 0.02};
  SpectralSettings settings = small_server();
  const std::vector<int> forced = {64, 2, 2, 64};
  KnobClimber climber(settings, {range, range, range, range}, {4, 8, 16, 32});
  PlayedCurve curve(arch(40, 0.3), 128, 0.05);
  long allocated = 0;
  for (const int limit : {100, 200, 100}) {
    settings.log_limit = limit;
    climber.adopt(settings);
    const long before = allocations();
    for (int i = 0; i < 4000; ++i) {
      const std::vector<int>& asked = climber.values();
      const double rate = curve.at(std::sqrt(asked[0] * asked[3]));
      climber.update({.throughput = i % 301 == 300 ? std::nan("") : rate, .connections = 64.0},
                     i % 1000 == 999 ? forced : asked);
    }
    allocated += allocations() - before;
  }
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(climber.journal().records().size(), 100U);
}

}  // namespace
}  // namespace poolpilot
