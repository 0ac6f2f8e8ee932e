#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/time_slices.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {
namespace {

constexpr double kSliceUs = 1'000.0;
constexpr double kLongUs = 1e6;  // so long that no slice ends
constexpr double kCreditUs = 4'000.0;
constexpr TimeNs kUs = 1'000;

Contention slicing(double quantum_us, double switch_us, double credit_us) {
  Contention contention;
  contention.law = Contention::Law::kSlices;
  contention.quantum_us = quantum_us;
  contention.switch_us = switch_us;
  contention.credit_us = credit_us;
  return contention;
}

using Ends = std::vector<std::pair<TimeNs, std::uint32_t>>;

// Runs until nobody is runnable; when each thread was done.
Ends ends_of(TimeSlices& slices) {
  Ends ends;
  for (TimeNs next_ns = slices.next_ns(); next_ns != kNever; next_ns = slices.next_ns()) {
    const std::uint32_t thread = slices.finish();
    if (thread != kNobody) ends.emplace_back(next_ns, thread);
  }
  return ends;
}

TEST(TimeSlices, AloneRunsToItsEnd) {
  TimeSlices slices(1, slicing(kSliceUs, 0.0, kCreditUs));
  slices.start(10 * kUs, 3, 2'500'000.0);
  EXPECT_EQ(ends_of(slices), (Ends{{2'510 * kUs, 3}}));
  EXPECT_DOUBLE_EQ(slices.taken_ns(3), 2'500'000.0);
  EXPECT_EQ(slices.runnable(), 0);
}

TEST(TimeSlices, TwoTakeTurns) {
  TimeSlices slices(1, slicing(kSliceUs, 0.0, kCreditUs));
  slices.start(0, 0, 20'500'000.0);
  slices.start(0, 1, 20'000'000.0);
  const Ends ends = ends_of(slices);
  EXPECT_EQ(ends.back().first, 40'500 * kUs);
  EXPECT_GE(ends.front().first, 40'000 * kUs - 4'000 * kUs);
  EXPECT_GE(slices.times_put_off(0), 8);
  EXPECT_GE(slices.times_put_off(1), 8);
  EXPECT_DOUBLE_EQ(slices.busy_ns(40'500 * kUs), 40.5e6);
}

TEST(TimeSlices, SwitchCostsWork) {
  TimeSlices slices(1, slicing(kLongUs, 100.0, kCreditUs));
  slices.start(0, 0, 500'000.0);
  slices.start(0, 1, 500'000.0);
  EXPECT_EQ(ends_of(slices), (Ends{{600 * kUs, 0}, {1'200 * kUs, 1}}));
}

TEST(TimeSlices, WhoStartsAnewInTheInstantKeepsTheProcessor) {
  TimeSlices slices(1, slicing(kLongUs, 0.0, kCreditUs));
  slices.start(0, 0, 100'000.0);
  slices.start(0, 1, 100'000.0);
  EXPECT_EQ(slices.next_ns(), 100 * kUs);
  EXPECT_EQ(slices.finish(), 0U);
  slices.start(100 * kUs, 0, 100'000.0);
  EXPECT_EQ(ends_of(slices), (Ends{{200 * kUs, 0}, {300 * kUs, 1}}));
}

TEST(TimeSlices, WhoWakesPutsOffWhoHasHadMore) {
  TimeSlices slices(1, slicing(kSliceUs, 0.0, kCreditUs));
  slices.start(0, 0, 1e9);
  slices.start(0, 1, 10'000.0);
  // The second waited while the first ran, and goes to sleep before it has had as much.
  while (slices.finish() != 1) slices.next_ns();
  slices.next_ns();
  const std::int64_t put_off = slices.times_put_off(0);
  slices.start(50'000 * kUs, 1, 100'000.0);
  EXPECT_TRUE(slices.on_processor(1));
  EXPECT_FALSE(slices.on_processor(0));
  EXPECT_EQ(slices.times_put_off(0), put_off + 1);
}

TEST(TimeSlices, SleepGivesCreditToWhoUsedLessThanItsShare) {
  const auto waited = [](double credit_us) {
    TimeSlices slices(1, slicing(kSliceUs, 0.0, credit_us));
    for (std::uint32_t thread = 0; thread < 9; ++thread) slices.start(0, thread, 1e9);
    TimeNs now_ns = 0;
    TimeNs total_ns = 0;
    for (int wake = 0; wake < 200; ++wake) {
      now_ns += 2'000 * kUs;
      while (slices.next_ns() < now_ns) slices.finish();
      slices.start(now_ns, 9, 50'000.0);
      const TimeNs begun_ns = now_ns;
      while (true) {
        now_ns = slices.next_ns();
        if (slices.finish() == 9) break;
      }
      total_ns += now_ns - begun_ns;
    }
    return total_ns;
  };
  EXPECT_LT(waited(4'000.0), waited(0.0) / 2);
}

TEST(TimeSlices, SpinEndsAtItsTimeAndOffAProcessorAsSoonAsItHasOne) {
  TimeSlices slices(1, slicing(kLongUs, 0.0, kCreditUs));
  slices.start(0, 0, 1e18, 300 * kUs);
  slices.start(0, 1, 1e18, 200 * kUs);
  EXPECT_TRUE(slices.on_processor(0));
  EXPECT_FALSE(slices.on_processor(1));
  EXPECT_EQ(ends_of(slices), (Ends{{300 * kUs, 0}, {300 * kUs, 1}}));
  EXPECT_DOUBLE_EQ(slices.taken_ns(1), 0.0);
}

TEST(TimeSlices, CancelledThreadLeavesItsProcessorToTheNext) {
  TimeSlices slices(1, slicing(kLongUs, 0.0, kCreditUs));
  slices.start(0, 0, 900'000.0);
  slices.start(0, 1, 200'000.0);
  slices.cancel(100 * kUs, 0);
  EXPECT_DOUBLE_EQ(slices.taken_ns(0), 100'000.0);
  EXPECT_EQ(ends_of(slices), (Ends{{300 * kUs, 1}}));
}

TEST(TimeSlices, SharesFairlyAndLosesNoWork) {
  Random random(5, 0);
  TimeSlices slices(3, slicing(kSliceUs, 0.0, kCreditUs));
  double work_ns = 0.0;
  for (std::uint32_t thread = 0; thread < 50; ++thread) {
    const double own_ns = random.exponential(20e6);
    work_ns += own_ns;
    slices.start(0, thread, own_ns);
  }
  const Ends ends = ends_of(slices);
  ASSERT_EQ(ends.size(), 50U);
  EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
  EXPECT_NEAR(slices.busy_ns(ends.back().first), work_ns, 50.0);
}

TEST(TimeSlices, EqualThreadsEndTogether) {
  TimeSlices slices(2, slicing(kSliceUs, 0.0, kCreditUs));
  for (std::uint32_t thread = 0; thread < 8; ++thread) slices.start(0, thread, 20e6);
  const Ends ends = ends_of(slices);
  EXPECT_LE(ends.back().first, 82'000 * kUs);
  EXPECT_GE(ends.front().first, 70'000 * kUs);
}

}  // namespace
}  // namespace poolpilot::sim
