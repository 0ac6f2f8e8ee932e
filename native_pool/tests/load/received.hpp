// How often this program has asked the system for what a client sent.
#pragma once

namespace poolpilot {

// Calls of recv() so far, but for those of threads that said spare_recv().
long recv_calls();
// The calling thread is a client of the test's own.
void spare_recv();

}  // namespace poolpilot
