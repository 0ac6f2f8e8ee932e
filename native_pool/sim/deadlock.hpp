// How a simulation ends that cannot go on.
#pragma once

#include <stdexcept>

namespace poolpilot::sim {

// Nothing can happen any more, and requests are unanswered; the text names threads and latches.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace poolpilot::sim
