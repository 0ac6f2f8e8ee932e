// What the executor of a live pool is told. What each one means stands in the table.
#pragma once

#include <span>

#include "settings/setting.hpp"

namespace poolpilot {

struct ExecutorSettings {
  bool instrument = true;
  int sample_every = 16;
  double latch_timeout_s = 5.0;
  int sample_pause_us = 2'000;

  static std::span<const SettingField<ExecutorSettings>> fields();
};

inline std::span<const SettingField<ExecutorSettings>> ExecutorSettings::fields() {
  using S = ExecutorSettings;
  static constexpr SettingField<S> kFields[] = {
      {&S::instrument, "instrument", "switch", 0, 1,
       "Measures rounds and keeps histograms; requests are counted either way."},
      {&S::sample_every, "sample_every", "requests", 1, 1'000'000,
       "One request in so many pays for CPU clocks and schedstat."},
      {&S::latch_timeout_s, "latch_timeout_s", "seconds", 0.001, 3600,
       "Time after which a wait for a latch fails, as after innodb_lock_wait_timeout."},
      {&S::sample_pause_us, "sample_pause_us", "microseconds", 0, 60'000'000,
       "Shortest time between two such requests, so that a quick server pays no more."}};
  return kFields;
}

}  // namespace poolpilot
