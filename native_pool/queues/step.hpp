// What a request does: a program of steps, the same on the wire, in the load and in the simulator.
#pragma once

#include <array>
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

enum class Op : std::uint8_t {
  kCpu = 1,
  kWait,
  kAcquire,
  kRelease,
  kBegin,
  kCommit,
  kDeclare,  // from now on the connection sends one class and has a priority
};
inline constexpr std::array kOpNames{"cpu",   "wait",   "acquire", "release",
                                     "begin", "commit", "declare"};

enum class WaitKind : std::uint8_t { kSleep = 0, kDiskIo, kRowLock, kNet };
inline constexpr std::array kWaitKindNames{"sleep", "disk_io", "row_lock", "net"};
inline constexpr std::size_t kWaitKinds = kWaitKindNames.size();

// What a session asks for its requests, as MariaDB's thread_pool_priority.
enum class SessionPriority : std::uint8_t { kAuto, kHigh, kLow };
inline constexpr std::array kSessionPriorityNames{"auto", "high", "low"};

// Bits of Step::aux. Acquire keeps its spin budget in microseconds in the bits from kSpinShift on.
inline constexpr std::uint16_t kReported = 1;  // Wait, Acquire: wait_begin/wait_end are called
inline constexpr int kSpinShift = 4;

struct Step {
  Op op;
  // WaitKind of a Wait, latch number of an Acquire or Release, SessionPriority of a Declare.
  std::uint8_t kind_or_latch;
  std::uint16_t aux;  // flags; for Acquire also spin_us << kSpinShift
  // Cpu, Wait: microseconds. Acquire: nanoseconds of CPU a holder pays per waiter. Declare: the
  // class, kClasses for none.
  std::uint32_t value;
};

}  // namespace poolpilot
