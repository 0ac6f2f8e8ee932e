#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/event_heap.hpp"
#include "sim/processor_sharing.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {
namespace {

TEST(EventHeap, GivesEventsInOrderOfTimeAndOfTheirScheduling) {
  Random random(7, 0);
  EventHeap heap;
  std::vector<std::pair<TimeNs, std::uint32_t>> wanted;
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    const auto at_ns = static_cast<TimeNs>(random.below(300));
    heap.push(at_ns, i);
    wanted.emplace_back(at_ns, i);
  }
  std::sort(wanted.begin(), wanted.end());
  for (const auto& [at_ns, what] : wanted) {
    EXPECT_EQ(heap.next_ns(), at_ns);
    const EventHeap::Entry event = heap.pop();
    EXPECT_EQ(event.key, at_ns);
    EXPECT_EQ(event.what, what);
  }
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.next_ns(), kNever);
}

TEST(EventHeap, ATimeBeyondTheClockIsTheLongestThereIs) {
  constexpr TimeNs kLongest = 4'000'000'000'000'000'000;
  EXPECT_EQ(whole_ns(1e19), kLongest);
  EXPECT_EQ(whole_ns(INFINITY), kLongest);
  EXPECT_EQ(whole_ns(2.5e9), 2'500'000'000);
  EXPECT_LT(kLastNs, kNever - kLongest);  // so it may be added wherever the clock stands
}

TEST(Random, StreamsAndSeedsDiffer) {
  Random first(1, 0);
  Random again(1, 0);
  Random stream(1, 1);
  Random seed(2, 0);
  const std::uint64_t word = first.bits();
  EXPECT_EQ(word, again.bits());
  EXPECT_NE(word, stream.bits());
  EXPECT_NE(word, seed.bits());
}

TEST(Random, BelowReachesEveryNumberEquallyOften) {
  Random random(3, 0);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

class GammaTest : public testing::TestWithParam<double> {};

TEST_P(GammaTest, HasTheMeanAndTheVariationAskedFor) {
  const double variation = GetParam();
  Random random(11, 0);
  const int draws = 400'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < draws; ++i) {
    const double value = random.gamma(5.0, variation);
    ASSERT_GE(value, 0.0);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / draws;
  EXPECT_NEAR(mean, 5.0, 5.0 * 5.0 * variation / std::sqrt(draws));
  EXPECT_NEAR(std::sqrt(squares / draws - mean * mean) / mean, variation, 0.03 * variation);
}

INSTANTIATE_TEST_SUITE_P(Variations, GammaTest, testing::Values(0.1, 0.5, 1.0, 2.0));

TEST(ProcessorSharing, AloneRunsAtFullSpeed) {
  ProcessorSharing cpu(2, {});
  cpu.start(100, 1, 50.0);
  cpu.start(110, 2, 10.0);
  EXPECT_EQ(cpu.next_ns(), 120);
  EXPECT_EQ(cpu.finish(), 2U);
  EXPECT_EQ(cpu.next_ns(), 150);
  EXPECT_EQ(cpu.finish(), 1U);
  EXPECT_EQ(cpu.next_ns(), kNever);
  EXPECT_DOUBLE_EQ(cpu.busy_ns(200), 60.0);
}

TEST(ProcessorSharing, SharesEquallyBeyondTheCores) {
  ProcessorSharing cpu(1, {});
  cpu.start(0, 1, 100.0);
  cpu.start(50, 2, 100.0);
  // The first has 50 left and gets half: done at 150, when the second has 50 left.
  EXPECT_EQ(cpu.next_ns(), 150);
  EXPECT_EQ(cpu.finish(), 1U);
  EXPECT_EQ(cpu.next_ns(), 200);
  EXPECT_DOUBLE_EQ(cpu.thread_cpu_ns(200), 50.0 + 50.0 + 50.0);
}

TEST(ProcessorSharing, WorkThatLastsLongerThanTheClockIsStillToCome) {
  Contention slow;
  slow.cache_loss = 100.0;
  ProcessorSharing cpu(1, slow);
  for (std::uint32_t thread = 0; thread < 100; ++thread) cpu.start(5, thread, 1e17);
  EXPECT_EQ(cpu.next_ns(), TimeNs{4'000'000'000'000'000'005});
}

TEST(ProcessorSharing, ThreadsTimeCountsFromAnyReading) {
  ProcessorSharing cpu(1, {});
  cpu.start(0, 1, 100.0);
  cpu.finish();
  const double before = cpu.thread_cpu_ns(500);
  cpu.start(500, 2, 40.0);
  EXPECT_EQ(cpu.finish(), 2U);
  EXPECT_DOUBLE_EQ(cpu.thread_cpu_ns(540) - before, 40.0);
}

TEST(ProcessorSharing, CancelledThreadLeavesItsShareToTheOthers) {
  ProcessorSharing cpu(1, {});
  cpu.start(0, 1, 100.0);
  cpu.start(0, 2, 100.0);
  cpu.cancel(100, 2);
  EXPECT_EQ(cpu.runnable(), 1);
  EXPECT_EQ(cpu.next_ns(), 150);
}

TEST(Contention, CostsNothingUpToTheCoresAndMoreBeyond) {
  Contention contention;
  contention.switch_us = 3.0;
  contention.quantum_us = 297.0;
  contention.cache_loss = 0.25;
  EXPECT_DOUBLE_EQ(contention.speed(4, 4), 1.0);
  EXPECT_DOUBLE_EQ(contention.speed(8, 4), 0.5 * 0.99 / 1.125);
}

TEST(Contention, SeedLawTakesTheSameFromEveryThread) {
  Contention contention;
  contention.law = Contention::Law::kSeed;
  contention.seed_loss = 0.1;
  EXPECT_DOUBLE_EQ(contention.speed(2, 4), 1.0);
  EXPECT_DOUBLE_EQ(contention.speed(8, 4), 0.4);
  EXPECT_GT(contention.speed(1000, 4), 0.0);
}

}  // namespace
}  // namespace poolpilot::sim
