// Trub's names and defaults, the table, and what is refused.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "climb/settings.hpp"

namespace poolpilot {
namespace {

std::string refusal_of(const SpectralSettings& settings) {
  try {
    settings.validate();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SpectralSettings, HaveTheArticlesDefaults) {
  const SpectralSettings settings;
  EXPECT_FALSE(settings.hcm_hillclimbing_enabled);
  EXPECT_FALSE(settings.hcm_log_enabled);
  EXPECT_EQ(settings.wave_period, 4);
  EXPECT_EQ(settings.samples_to_wave_period_ratio, 8);
  EXPECT_EQ(settings.hcm_period, 2.0);
  EXPECT_EQ(settings.min_accepted_throughput, 300.0);
  EXPECT_EQ(settings.hcm_eps, 5.0);
  EXPECT_EQ(settings.hcm_valuable_diff, 20.0);
  EXPECT_EQ(settings.hcm_ccs_valuable_progress, 0.2);
  EXPECT_EQ(settings.hcm_min_thread_wave_magnitude, 10.0);
  EXPECT_EQ(settings.hcm_max_thread_wave_magnitude, 80.0);
}

TEST(SpectralSettings, TableNamesEverySettingOnceWithADefaultInItsRange) {
  std::set<std::string> names;
  const SpectralSettings settings;
  for (const auto& field : SpectralSettings::fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_GE(field.value_in(settings), field.low) << field.name;
    EXPECT_LE(field.value_in(settings), field.high) << field.name;
    EXPECT_GT(std::string(field.effect).size(), 10U) << field.name;
  }
  // One of each member: bools, ints and doubles as they stand in the struct.
  EXPECT_GE(names.size(), 33U);
}

TEST(SpectralSettings, OutOfRangeIsRefusedByNameWithTheRange) {
  SpectralSettings settings;
  settings.hcm_false_jump_ratio = 1.5;
  EXPECT_EQ(refusal_of(settings), "hcm_false_jump_ratio is 1.5, but must be in 0..1");
  settings = {};
  settings.hcm_eps = std::nan("");
  EXPECT_EQ(refusal_of(settings), "hcm_eps is nan, but must be a finite number, at least 0");
  settings = {};
  settings.wave_period = 7;
  EXPECT_EQ(refusal_of(settings), "wave_period is 7, but must be an even number in 4..64");
}

TEST(SpectralSettings, ContradictionsNameBothSettings) {
  SpectralSettings settings;
  settings.hcm_min_thread_wave_magnitude = 90.0;
  EXPECT_EQ(refusal_of(settings),
            "hcm_max_thread_wave_magnitude is 80, but must be at least 90, the value of "
            "hcm_min_thread_wave_magnitude");
  settings = {};
  settings.hcm_min_period = 5.0;
  EXPECT_NE(refusal_of(settings).find("hcm_period is 2"), std::string::npos);
  settings.adapt_period = false;
  EXPECT_EQ(refusal_of(settings), "accepted");
  settings = {};
  settings.min_periods_to_decide = 9;
  EXPECT_NE(refusal_of(settings).find("samples_to_wave_period_ratio is 8"), std::string::npos);
  settings = {};
  settings.hcm_quick_exit_samples = 9;
  EXPECT_NE(refusal_of(settings).find("hcm_exit_samples is 8"), std::string::npos);
}

TEST(SpectralSettings, ArticlesOwnMethodIsValid) {
  EXPECT_EQ(refusal_of(SpectralSettings::article()), "accepted");
  EXPECT_FALSE(SpectralSettings::article().relative_gain);
}

}  // namespace
}  // namespace poolpilot
