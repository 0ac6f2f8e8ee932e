// How often this thread has asked for memory.
#pragma once

namespace poolpilot {

long allocations();

}  // namespace poolpilot
