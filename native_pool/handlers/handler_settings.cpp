#include "handlers/handler_settings.hpp"

namespace poolpilot {
namespace {

using S = HandlerSettings;
using Field = SettingField<S>;

constexpr Field kFields[] = {
    choice_field<S, &S::handler>(
        kHandlerNames, "handler",
        "Which thread serves a connection: one of its own (per_connection, where the tuple has no "
        "effect), one of a thread group (pool), or its own while there are few and any after that "
        "(hybrid, where of the tuple pool_size, timer_interval_ms and idle_timeout_s have one)."),
    {&S::thread_cache_size, "thread_cache_size", "threads", 0, 16'384,
     "Threads of per_connection that wait for the next client once theirs has gone."}};

}  // namespace

std::span<const Field> HandlerSettings::fields() { return kFields; }

}  // namespace poolpilot
