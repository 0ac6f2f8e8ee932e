// The connection handlers, for tests of what each of them must do.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "handlers/handler_settings.hpp"

namespace poolpilot {

inline auto all_handlers() {
  return testing::Values(HandlerKind::kPerConnection, HandlerKind::kPool, HandlerKind::kHybrid);
}

// As a part of a test's name.
inline std::string name_of(HandlerKind handler) {
  return kHandlerNames[static_cast<std::size_t>(handler)];
}

}  // namespace poolpilot
