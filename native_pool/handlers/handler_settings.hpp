// Which connection handler a pool has, MariaDB's thread_handling, and what each of them is told.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>

#include "handlers/hybrid_settings.hpp"
#include "settings/setting.hpp"

namespace poolpilot {

enum class HandlerKind : std::uint8_t { kPerConnection, kPool, kHybrid };
inline constexpr std::array kHandlerNames{"per_connection", "pool", "hybrid"};

struct HandlerSettings {
  HandlerKind handler = HandlerKind::kPool;
  int thread_cache_size = 256;
  HybridSettings hybrid;

  static std::span<const SettingField<HandlerSettings>> fields();
  static constexpr auto parts() { return std::tuple(&HandlerSettings::hybrid); }
};

inline std::span<const SettingField<HandlerSettings>> HandlerSettings::fields() {
  using S = HandlerSettings;
  static constexpr SettingField<S> kFields[] = {
      choice_field<S, &S::handler>(
          kHandlerNames, "handler",
          "Which thread serves a connection: one of its own (per_connection, where the tuple has "
          "no "
          "effect), one of a thread group (pool), or its own while there are few and any after "
          "that "
          "(hybrid, where of the tuple pool_size, timer_interval_ms and idle_timeout_s have one)."),
      {&S::thread_cache_size, "thread_cache_size", "threads", 0, 16'384,
       "Threads of per_connection that wait for the next client once theirs has gone."}};
  return kFields;
}

}  // namespace poolpilot
