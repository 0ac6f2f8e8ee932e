#include "climb/curve.hpp"

#include <gtest/gtest.h>

namespace poolpilot {
namespace {

TEST(CurveMemory, AveragesWhatIsKnownOfASize) {
  CurveMemory curve(128);
  curve.add(8, 100.0, 2.0);
  curve.add(8, 130.0, 4.0);
  EXPECT_DOUBLE_EQ(curve.predict(8, 2.0).value(), 120.0);
}

TEST(CurveMemory, PredictsOnTheLineBetweenNeighbours) {
  CurveMemory curve(128);
  curve.add(10, 100.0, 2.0);
  curve.add(20, 200.0, 2.0);
  EXPECT_DOUBLE_EQ(curve.predict(15, 2.0).value(), 150.0);
}

TEST(CurveMemory, PredictsNothingOutsideOrAcrossAWideGap) {
  CurveMemory curve(128);
  EXPECT_FALSE(curve.predict(5, 2.0).has_value());
  curve.add(10, 100.0, 2.0);
  curve.add(21, 200.0, 2.0);
  EXPECT_FALSE(curve.predict(9, 2.0).has_value());
  EXPECT_FALSE(curve.predict(22, 2.0).has_value());
  EXPECT_FALSE(curve.predict(15, 2.0).has_value());
}

TEST(CurveMemory, BestWeighsThroughputAgainstThePriceOfThreads) {
  CurveMemory curve(128);
  curve.add(10, 100.0, 2.0);
  curve.add(20, 101.0, 2.0);
  EXPECT_EQ(curve.best(1, 64, 0.0), 20);
  EXPECT_EQ(curve.best(1, 64, 0.02), 10);
  EXPECT_EQ(curve.best(11, 64, 0.02), 20);
  EXPECT_FALSE(curve.best(30, 64, 0.0).has_value());
}

}  // namespace
}  // namespace poolpilot
