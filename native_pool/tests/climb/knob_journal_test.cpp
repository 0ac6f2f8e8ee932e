// The log of a climb of many knobs, and settings that change on its way.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "climb/knobs.hpp"
#include "tests/climb/played_curve.hpp"

namespace poolpilot {
namespace {

using Values = std::vector<int>;

const std::vector<KnobRange> kPair = {{.limits = {.min = 1, .max = 128}, .price = 0.02},
                                      {.limits = {.min = 1, .max = 64}}};
const Values kStart = {8, 16};

// Requests a second: 1000 at (24, 8), fewer the farther away.
double pair(const Values& at) {
  return 1000.0 * std::exp(-0.3 * std::pow(std::log(at[0] / 24.0), 2) -
                           0.2 * std::pow(std::log(at[1] / 8.0), 2));
}

Sample sample_at(const Values& values) {
  return {.throughput = pair(values), .connections = 256.0, .latency_s = 0.01, .duration_s = 0.5};
}

// As a server does: a sample under the values in force, then those that were asked for.
void play(KnobClimber& climber, Values& in_force, int samples) {
  for (int i = 0; i < samples; ++i) in_force = climber.update(sample_at(in_force), in_force);
}

KnobClimber held(Values& in_force) {
  KnobClimber climber(small_server(), kPair, kStart);
  for (int i = 0; i < 1000 && climber.mode() != Mode::kOptimized; ++i) play(climber, in_force, 1);
  return climber;
}

TEST(KnobJournal, HasOneRecordOfEveryUpdateAndOfTheStart) {
  Values in_force = kStart;
  KnobClimber climber(small_server(), kPair, kStart);
  play(climber, in_force, 100);
  const auto& records = climber.journal().records();
  ASSERT_EQ(records.size(), 101U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].sample, static_cast<std::int64_t>(i));
    EXPECT_EQ(records[i].knobs, 2U);
    EXPECT_FALSE(records[i].text().empty());
    for (std::size_t k = 0; k < 2; ++k) {
      const KnobState& state = records[i].states[k];
      if (i > 1) {
        EXPECT_EQ(state.value, records[i - 1].states[k].next_value);
      }
      EXPECT_LE(state.wave_low, state.middle);
      EXPECT_GE(state.wave_high, state.middle);
    }
  }
  EXPECT_EQ(records[0].states[0].value, 8);
  EXPECT_DOUBLE_EQ(records.back().duration_s, 0.5);
  EXPECT_DOUBLE_EQ(records.back().period_s, small_server().hcm_period);
  EXPECT_EQ(records.back().states[1].next_value, climber.values()[1]);
}

TEST(KnobJournal, FirstSampleMayBeOlderThanTheFirstWave) {
  Values in_force = kStart;
  KnobClimber climber(small_server(), kPair, kStart);
  play(climber, in_force, 1);
  EXPECT_EQ(climber.reason(), Reason::kSettling);
  climber.update(sample_at(kStart), kStart);
  EXPECT_EQ(climber.reason(), Reason::kForced);
  EXPECT_EQ(climber.journal().latest().text(), "values were changed from outside to (8, 16)");
}

TEST(KnobJournal, DecisionsCarryTheElasticitiesTheyRestOn) {
  Values in_force = kStart;
  KnobClimber climber(small_server(), kPair, kStart);
  for (int i = 0; i < 100 && climber.reason() != Reason::kInside; ++i) play(climber, in_force, 1);
  const KnobRecord& record = climber.journal().latest();
  EXPECT_STREQ(record.decision(), "move");
  EXPECT_GT(record.states[0].ratio, 0.2);
  EXPECT_LT(record.states[1].ratio, -0.1);
  EXPECT_EQ(record.states[0].ratio, climber.ratios()[0]);
  EXPECT_EQ(record.states[1].error, climber.errors()[1]);
  EXPECT_GT(record.states[0].middle, kStart[0]);
  EXPECT_LT(record.states[1].middle, kStart[1]);
}

TEST(KnobJournal, SaysWhatHasLeftItsReferenceAndHowFar) {
  Values in_force = kStart;
  KnobClimber climber = held(in_force);
  play(climber, in_force, 40);
  for (int i = 0; i < 100 && climber.mode() == Mode::kOptimized; ++i) {
    Sample slower = sample_at(in_force);
    slower.throughput *= 0.5;
    in_force = climber.update(slower, in_force);
  }
  EXPECT_EQ(climber.journal().latest().text(), "throughput left its reference by -50 %");
}

TEST(KnobJournal, SaysWhyASampleIsDropped) {
  KnobClimber climber(small_server(), kPair, kStart);
  climber.update({.throughput = std::nan(""), .connections = 8.0}, kStart);
  EXPECT_STREQ(climber.journal().latest().decision(), "drop");
  EXPECT_NE(climber.journal().latest().text().find(name_of(Flaw::kThroughput)), std::string::npos);
}

TEST(KnobJournal, KeepsTheLatestRecordsOnlyAndOffTheLatestAlone) {
  SpectralSettings settings = small_server();
  settings.log_limit = 3;
  Values in_force = kStart;
  KnobClimber climber(settings, kPair, kStart);
  play(climber, in_force, 20);
  EXPECT_EQ(climber.journal().records().size(), 3U);
  settings.hcm_log_enabled = false;
  climber.adopt(settings);
  play(climber, in_force, 1);
  EXPECT_TRUE(climber.journal().records().empty());
  EXPECT_EQ(climber.journal().latest().sample, 21);
}

TEST(KnobSettings, ChangeWhileItClimbsAndTheWaveBeginsAnew) {
  SpectralSettings settings = small_server();
  settings.confidence = 2.0;
  for (const int samples : {1, 6, 8, 11}) {
    Values in_force = kStart;
    KnobClimber climber(small_server(), kPair, kStart);
    play(climber, in_force, samples);
    climber.adopt(settings);
    EXPECT_EQ(climber.settings().confidence, 2.0);
    play(climber, in_force, 1);
    EXPECT_EQ(climber.reason(), Reason::kSettingsChanged) << samples;
    play(climber, in_force, 300);
    EXPECT_GE(pair(climber.values()), 950.0) << samples;
  }
}

TEST(KnobSettings, LeaveHeldValuesHeld) {
  Values in_force = kStart;
  KnobClimber climber = held(in_force);
  const Values before = climber.values();
  climber.adopt(small_server());
  play(climber, in_force, 50);
  EXPECT_EQ(climber.mode(), Mode::kOptimized);
  EXPECT_EQ(climber.values(), before);
}

TEST(KnobSettings, SwitchedOffLeaveEveryValueAlone) {
  SpectralSettings settings = small_server();
  settings.hcm_hillclimbing_enabled = false;
  KnobClimber climber(small_server(), kPair, kStart);
  climber.adopt(settings);
  for (const Values& set : {Values{8, 16}, Values{40, 3}}) {
    EXPECT_EQ(climber.update(sample_at(set), set), set);
    EXPECT_EQ(climber.reason(), Reason::kSwitchedOff);
  }
}

TEST(KnobSettings, BringAPriceForEachKnob) {
  Values in_force = kStart;
  KnobClimber climber(small_server(), kPair, kStart);
  const std::vector<double> dear = {2.0, 0.0};
  climber.adopt(small_server(), dear);
  play(climber, in_force, 400);
  EXPECT_LE(climber.values()[0], 2);
}

TEST(KnobSettings, ThatAreNotValidChangeNothing) {
  KnobClimber climber(small_server(), kPair, kStart);
  SpectralSettings settings = small_server();
  settings.confidence = -1.0;
  EXPECT_THROW(climber.adopt(settings), std::invalid_argument);
  const std::vector<double> few = {0.1};
  EXPECT_THROW(climber.adopt(small_server(), few), std::invalid_argument);
  EXPECT_EQ(climber.settings().confidence, small_server().confidence);
}

}  // namespace
}  // namespace poolpilot
