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

}  // namespace poolpilot
