// What the admission of a pool is told, all of which may change while it serves. What each one
// means stands in its table.
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

inline std::span<const SettingField<AdmissionSettings>> AdmissionSettings::fields() {
  using S = AdmissionSettings;
  static constexpr SettingField<S> kFields[] = {
      {&S::admission_limit, "admission_limit", "transactions", 0, kMostAdmitted,
       "Most transactions inside at once; the others wait in their order. 0: no limit."},
      {&S::admission_escape_ms, "admission_escape_ms", "milliseconds", 0, 86'400'000,
       "A transaction that is inside for longer gives its place to one that waits, and goes on. 0: "
       "never."},
      {&S::admission_queue_limit, "admission_queue_limit", "transactions", 0, kMostAdmitted,
       "Most transactions that wait; a further one is refused, to try again. 0: no limit."},
      {&S::admission_exempt_class, "admission_exempt_class", "class", kNoClass, kClasses - 1,
       "A class whose requests need no place; -1: none."}};
  return kFields;
}

}  // namespace poolpilot
