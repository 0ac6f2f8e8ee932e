// The pool as a request sees it: where it reports that it is about to wait.
#pragma once

#include "queues/step.hpp"

namespace poolpilot {

class WaitReporter {
 public:
  virtual ~WaitReporter() = default;
  virtual void wait_begin(WaitKind kind) = 0;
  virtual void wait_end(WaitKind kind) = 0;
};

}  // namespace poolpilot
