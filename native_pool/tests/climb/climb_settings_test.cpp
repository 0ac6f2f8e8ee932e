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
  EXPECT_EQ(settings.samples_to_wave_period_ratio, 8);
  EXPECT_EQ(settings.hcm_period, 2.0);
  EXPECT_EQ(settings.min_accepted_throughput, 300.0);
  EXPECT_EQ(settings.hcm_min_thread_wave_magnitude, 10.0);
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
  EXPECT_EQ(names.size(), 16U);
}

TEST(SpectralSettings, OutOfRangeIsRefusedByNameWithTheRange) {
  SpectralSettings settings;
  settings.hcm_quick_exit_samples = 9;
  EXPECT_EQ(refusal_of(settings), "hcm_quick_exit_samples is 9, but must be in 0..8");
  settings = {};
  settings.min_accepted_throughput = std::nan("");
  EXPECT_EQ(refusal_of(settings),
            "min_accepted_throughput is nan, but must be a finite number, at least 0");
}

TEST(SpectralSettings, AContradictionNamesBothSettings) {
  SpectralSettings settings;
  settings.hcm_min_period = 5.0;
  EXPECT_EQ(refusal_of(settings),
            "hcm_period is 2, but must be at least 5, the value of hcm_min_period");
}

TEST(SpectralSettings, ArticlesOwnMethodIsValid) {
  EXPECT_EQ(refusal_of(SpectralSettings::article()), "accepted");
  EXPECT_TRUE(SpectralSettings::article().trubs_method);
}

}  // namespace
}  // namespace poolpilot
