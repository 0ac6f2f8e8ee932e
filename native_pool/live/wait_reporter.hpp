// The pool as a request sees it: where it reports that it is about to wait.
#pragma once

namespace poolpilot {

class WaitReporter {
 public:
  virtual ~WaitReporter() = default;
  virtual void wait_begin() = 0;
  virtual void wait_end() = 0;
};

}  // namespace poolpilot
