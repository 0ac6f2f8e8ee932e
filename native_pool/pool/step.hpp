// What a request does: a program of steps, the same on the wire, in the load and in the simulator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poolpilot {

inline constexpr std::size_t kClasses = 8;
inline constexpr std::size_t kLatches = 64;

// Limits of what one request may ask of a worker.
inline constexpr std::size_t kMaxSteps = 256;
inline constexpr std::uint32_t kMaxStepUs = 10'000'000;
inline constexpr std::uint32_t kMaxProgramUs = 60'000'000;  // all its Cpu and Wait steps together
inline constexpr std::uint32_t kMaxWaiterCostNs = 1'000'000;

enum class Op : std::uint8_t { kCpu = 1, kWait, kAcquire, kRelease, kBegin, kCommit };
enum class WaitKind : std::uint8_t { kSleep = 0, kDiskIo, kRowLock, kNet };
inline constexpr std::size_t kWaitKinds = 4;

// Bits of Step::aux. Acquire keeps its spin budget in microseconds in the bits from kSpinShift on.
inline constexpr std::uint16_t kReported = 1;  // Wait, Acquire: wait_begin/wait_end are called
inline constexpr int kSpinShift = 4;

struct Step {
  Op op;
  std::uint8_t kind_or_latch;  // WaitKind of a Wait, latch number of an Acquire or Release
  std::uint16_t aux;           // flags; for Acquire also spin_us << kSpinShift
  std::uint32_t
      value;  // Cpu, Wait: microseconds. Acquire: nanoseconds of CPU a holder pays per waiter
};

}  // namespace poolpilot
