// Where a connection lives: there it waits for its next request, and there its waits are reported.
//
// Its handler gives a connection a home, may move it to another, and tells homes apart by their
// address.
#pragma once

#include "live/wait_reporter.hpp"

namespace poolpilot {

struct Connection;

class ConnectionHome : public WaitReporter {
 public:
  // Forgets a connection that is about to move or close; called in the middle of its turn.
  virtual void remove(Connection& connection) = 0;
  // Has a connection served again whose last turn ended with its being parked: soon, before new
  // requests. It is neither armed nor queued, and may live in another home: one whose threads
  // cannot serve that passes it on to there. The caller must not touch it afterwards.
  virtual void requeue(Connection& connection) = 0;
};

}  // namespace poolpilot
