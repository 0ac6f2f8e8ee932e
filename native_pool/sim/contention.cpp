#include "sim/contention.hpp"

namespace poolpilot::sim {
namespace {

using S = Contention;
using Field = SettingField<S>;

constexpr const char* kMicroseconds = "microseconds";

constexpr Field kFields[] = {
    choice_field<S, &S::law>(S::kLawNames, "law",
                             "How processors are shared: evenly at the cost of switches and cold "
                             "caches, evenly by Trub's law, or in slices."),
    {&S::switch_us, "switch_us", kMicroseconds, 0, 1e6,
     "Processor time lost at a switch between two threads that could run."},
    {&S::quantum_us, "quantum_us", kMicroseconds, 1, 1e7,
     "How long a thread runs before another gets its turn."},
    {&S::credit_us, "credit_us", kMicroseconds, 0, 1e7,
     "Slices: how far a woken thread may be behind the others."},
    {&S::cache_loss, "cache_loss", "share", 0, 100,
     "Slow-down with far more threads than processors, as a share of the work."},
    {&S::seed_loss, "seed_loss", "share", 0, 1,
     "`a` of Trub's law: n threads on C processors each progress at C/n - a."}};

}  // namespace

std::span<const Field> Contention::fields() { return kFields; }

}  // namespace poolpilot::sim
