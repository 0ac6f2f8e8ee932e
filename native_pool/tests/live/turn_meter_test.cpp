// What a turn takes on its own: sleeping counts, waiting for the processor does not.
#include "live/handlers/turn_meter.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

#include "system/clock.hpp"

namespace poolpilot {
namespace {

void pin_to_one_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  CPU_ZERO(&allowed);
  CPU_SET(first, &allowed);
  ASSERT_EQ(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

void work_ns(std::int64_t cpu_ns) {
  const std::int64_t until_ns = thread_cpu_ns() + cpu_ns;
  while (thread_cpu_ns() < until_ns) {
  }
}

TEST(TurnMeter, TimeForWhichOthersHadTheProcessorIsNoPartOfATurn) {
  std::optional<MeteredTurn> metered;
  std::int64_t lasted_ns = 0;
  std::atomic<bool> over{false};
  const auto compete = [&] {
    pin_to_one_processor();
    while (!over) {
    }
  };
  std::thread first(compete);
  std::thread second(compete);
  std::thread turn([&] {
    pin_to_one_processor();
    TurnMeter meter;
    meter.begin();
    const std::int64_t begun_ns = now_ns();
    work_ns(50'000'000);
    lasted_ns = now_ns() - begun_ns;
    metered = meter.end(lasted_ns);
    over = true;
  });
  for (std::thread* const one : {&turn, &first, &second}) one->join();
  ASSERT_TRUE(metered.has_value());
  EXPECT_FALSE(metered->slept);
  EXPECT_GE(metered->took_ns, 49'000'000);
  EXPECT_LT(metered->took_ns, lasted_ns * 3 / 4);
}

TEST(TurnMeter, ATurnThatSleptTookAsLongAsItLasted) {
  TurnMeter meter;
  meter.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::optional<MeteredTurn> metered = meter.end(123);
  ASSERT_TRUE(metered.has_value());
  EXPECT_TRUE(metered->slept);
  EXPECT_EQ(metered->took_ns, 123);
}

TEST(TurnMeter, LooksAtTheFirstOfSixteen) {
  TurnMeter meter;
  int looked_at = 0;
  for (int turn = 0; turn < 48; ++turn) {
    meter.begin();
    const bool looks = meter.end(1'000).has_value();
    EXPECT_EQ(looks, turn % 16 == 0);
    looked_at += looks ? 1 : 0;
  }
  EXPECT_EQ(looked_at, 3);
}

}  // namespace
}  // namespace poolpilot
