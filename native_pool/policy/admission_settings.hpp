// What the admission of a pool is told. What each one means stands once, in admission_settings.cpp.
#pragma once

#include <span>

#include "pool/setting.hpp"

namespace poolpilot {

inline constexpr int kMostAdmitted = 65'536;  // as many as there can be connections

struct AdmissionSettings {
  int admission_limit = 0;
  int admission_escape_ms = 2'000;
  int admission_queue_limit = 0;

  static std::span<const SettingField<AdmissionSettings>> fields();
};

// Throws std::invalid_argument with the range: for a limit that is to change while a pool serves.
void check_admission_limit(int limit);

}  // namespace poolpilot
