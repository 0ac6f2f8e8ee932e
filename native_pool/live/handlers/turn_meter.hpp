// How long the turns of a thread take on their own: without the time for which it could have run
// and others had its processor.
//
// That time says nothing of the turn, and the more threads there are the longer it is: a handler
// that gave each connection a thread because turns seem long would make them long. A turn in which
// the thread went to sleep took as long as it lasted; any other took the processor for as long as
// the kernel says. One turn in sixteen is looked at, for two system calls.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

namespace poolpilot {

struct MeteredTurn {
  std::int64_t took_ns;
  bool slept;
};

class TurnMeter {
 public:
  void begin();
  // Of a turn that lasted so long; nothing for one that is not looked at.
  std::optional<MeteredTurn> end(std::int64_t lasted_ns);

 private:
  static constexpr int kOneIn = 16;

  int turns_ = 0;
  bool looks_ = false;
  rusage begun_{};
};

}  // namespace poolpilot
