// What the admission of a pool is told, all of which may change while it serves. What each one
// means stands once, in admission_settings.cpp.
#pragma once

#include <span>

#include "queues/step.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

inline constexpr int kNoClass = -1;
inline constexpr int kMostAdmitted = 65'536;  // as many as there can be connections

struct AdmissionSettings {
  int admission_limit = 0;
  int admission_escape_ms = 2'000;
  int admission_queue_limit = 0;
  int admission_exempt_class = kNoClass;

  bool operator==(const AdmissionSettings&) const = default;

  static std::span<const SettingField<AdmissionSettings>> fields();
};

}  // namespace poolpilot
