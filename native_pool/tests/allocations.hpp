// How often threads have asked for memory, and a system that has none left for the others.
#pragma once

namespace poolpilot {

// Of this thread.
long allocations();
// Of all other threads together, those that have ended included.
long allocations_of_others();

// While it lives, the `nth` request for memory (1 is the next) of all threads but its own is
// refused, and no other. One lives at a time.
class AllocationRefusal {
 public:
  explicit AllocationRefusal(long nth);
  ~AllocationRefusal();
  AllocationRefusal(const AllocationRefusal&) = delete;
  AllocationRefusal& operator=(const AllocationRefusal&) = delete;

  static bool refused();
};

}  // namespace poolpilot
