// The log: one record of every update, the latest ones only, none where it is off.
#include <gtest/gtest.h>

#include "tests/climb/played_curve.hpp"

namespace poolpilot {
namespace {

TEST(Journal, HasOneRecordOfEveryUpdateAndOfTheStart) {
  SpectralClimber climber(small_server(), 8, {.min = 1, .max = 64});
  PlayedCurve curve(arch(32, 0.5), 64, 0.05);
  int size = climber.size();
  for (int i = 0; i < 100; ++i) size = curve.play(climber, size);
  const auto& records = climber.journal().records();
  ASSERT_EQ(records.size(), 101U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].sample, static_cast<std::int64_t>(i));
    if (i > 0) {
      EXPECT_EQ(records[i].size, records[i - 1].next_size);
    }
    EXPECT_FALSE(records[i].text().empty());
  }
  EXPECT_EQ(records.back().next_size, size);
}

TEST(Journal, DecisionsCarryTheHarmonicsTheyRestOn) {
  SpectralClimber climber(without_scan(), 8, {.min = 1, .max = 1024});
  PlayedCurve curve(roof(512, 0.9, 0.5), 1024, 0.0);
  int size = climber.size();
  for (int i = 0; i < 9; ++i) size = curve.play(climber, size);
  ASSERT_EQ(climber.journal().latest().reason, Reason::kRising);
  const ClimbRecord& record = climber.journal().latest();
  const auto ratio = record.throughput_harmonic / record.size_harmonic;
  EXPECT_DOUBLE_EQ(record.ratio, ratio.real());
  EXPECT_NEAR(record.ratio, 0.9, 0.05);
  EXPECT_NEAR(record.progress, 2 * (record.ratio - 0.02), 1e-12);
  EXPECT_GT(record.next_size, 8);
}

TEST(Journal, KeepsTheLatestRecordsOnly) {
  SpectralSettings settings = small_server();
  settings.log_limit = 3;
  SpectralClimber climber(settings, 8, {.min = 1, .max = 64});
  PlayedCurve curve(arch(32, 0.5), 64, 0.05);
  int size = climber.size();
  curve.play_until_held(climber, size);
  ASSERT_EQ(climber.journal().records().size(), 3U);
  EXPECT_EQ(climber.journal().records().back().mode, Mode::kOptimized);
}

TEST(Journal, OffKeepsTheLatestAlone) {
  SpectralSettings settings = small_server();
  settings.hcm_log_enabled = false;
  SpectralClimber climber(settings, 8, {.min = 1, .max = 64});
  PlayedCurve curve(arch(32, 0.5), 64, 0.05);
  curve.play(climber, 8);
  EXPECT_TRUE(climber.journal().records().empty());
  EXPECT_EQ(climber.journal().latest().sample, 1);
}

}  // namespace
}  // namespace poolpilot
