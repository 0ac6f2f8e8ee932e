#include "policy/admission_settings.hpp"

namespace poolpilot {
namespace {

using S = AdmissionSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    {&S::admission_limit, "admission_limit", "transactions", 0, kMostAdmitted,
     "Most transactions inside at once; the others wait in their order. 0: no limit."},
    {&S::admission_escape_ms, "admission_escape_ms", "milliseconds", 0, 86'400'000,
     "A transaction that is inside for longer gives its place to one that waits, and goes on. 0: "
     "never."},
    {&S::admission_queue_limit, "admission_queue_limit", "transactions", 0, kMostAdmitted,
     "Most transactions that wait; a further one is refused, to try again. 0: no limit."},
    {&S::admission_exempt_class, "admission_exempt_class", "class", kNoClass, kClasses - 1,
     "A class whose requests need no place; -1: none."}};

}  // namespace

std::span<const Field> AdmissionSettings::fields() { return kFields; }

}  // namespace poolpilot
