#include "live/executor.hpp"

#include <algorithm>
#include <optional>

#include "live/rounds.hpp"
#include "system/clock.hpp"

namespace poolpilot {
namespace {

constexpr std::int64_t kSliceNs = 50'000'000;  // a stopping server is noticed at least this often
constexpr int kBurnLoops = 4'000;              // some microseconds of work between looks at a clock

// A short pause of a spinning thread that leaves the core's pipeline to its neighbour.
void relax() {
  for (int i = 0; i < 64; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

bool spin(Latch& latch, LatchOwner owner, std::int64_t until_ns) {
  bool taken = false;
  while (!taken && now_ns() < until_ns) {
    relax();
    taken = latch.try_acquire(owner);
  }
  return taken;
}

bool is_reported(const Step& step) { return (step.aux & kReported) != 0; }

}  // namespace

// One request on its way.
struct Executor::Execution {
  Connection& connection;
  WaitReporter& reporter;
  WorkerStats& stats;
  Rounds rounds;
};

// While it lives, the pool takes the thread for one that waits.
class Executor::ReportedWait {
 public:
  ReportedWait(Execution& execution, WaitKind kind) : execution_(execution), kind_(kind) {
    execution_.stats.counters.waits[static_cast<std::size_t>(kind)].add();
    execution_.rounds.begin_wait();
    execution_.reporter.wait_begin(kind_);
  }
  ~ReportedWait() {
    execution_.reporter.wait_end(kind_);
    execution_.rounds.end_wait();
  }
  ReportedWait(const ReportedWait&) = delete;
  ReportedWait& operator=(const ReportedWait&) = delete;

 private:
  Execution& execution_;
  const WaitKind kind_;
};

Status Executor::run(Connection& connection, WaitReporter& reporter, WorkerStats& stats,
                     std::int64_t start_ns) {
  const bool sampled = settings_.instrument && is_sampled(stats, start_ns);
  Execution execution{connection, reporter, stats,
                      Rounds(stats, settings_.instrument, sampled, start_ns)};
  Status status = Status::kOk;
  for (const Step& step : connection.request.steps) {
    status = run_step(step, execution);
    if (status != Status::kOk) break;
  }
  if (status != Status::kOk || !connection.in_transaction) abandon(connection);
  connection.last_response_ns = execution.rounds.finish();
  return status;
}

// By the thread's own count, which cannot follow a class's pattern unless a client sends with
// exactly this period.
bool Executor::is_sampled(const WorkerStats& stats, std::int64_t start_ns) {
  if (stats.counters.completed.value() % settings_.sample_every != 0) return false;
  if (start_ns < next_sample_ns_.load(std::memory_order_relaxed)) return false;
  next_sample_ns_.store(start_ns + std::int64_t{settings_.sample_pause_us} * 1'000,
                        std::memory_order_relaxed);
  return true;
}

Status Executor::run_step(const Step& step, Execution& execution) {
  Connection& connection = execution.connection;
  switch (step.op) {
    case Op::kCpu:
      return burn(std::int64_t{step.value} * 1'000);
    case Op::kWait:
      return wait(step, execution);
    case Op::kAcquire:
      return acquire(step, execution);
    case Op::kRelease:
      latches_[step.kind_or_latch].release(&connection);
      connection.held_latches.reset(step.kind_or_latch);
      break;
    case Op::kBegin:
      connection.in_transaction = true;
      break;
    case Op::kCommit:
      abandon(connection);
      break;
    case Op::kDeclare:
      connection.declared_class = step.value < kClasses ? static_cast<int>(step.value) : kAnyClass;
      connection.priority = static_cast<SessionPriority>(step.kind_or_latch);
      break;
  }
  return Status::kOk;
}

void Executor::abandon(Connection& connection) {
  connection.in_transaction = false;
  if (connection.held_latches.none()) return;
  for (std::size_t i = 0; i < kLatches; ++i) {
    if (connection.held_latches.test(i)) latches_[i].release(&connection);
  }
  connection.held_latches.reset();
}

void Executor::stop() {
  for (Latch& latch : latches_) latch.stop();
}

Status Executor::acquire(const Step& step, Execution& execution) {
  Connection& connection = execution.connection;
  Latch& latch = latches_[step.kind_or_latch];
  if (!latch.try_acquire(&connection) && !contend(latch, step, execution)) {
    return stopping_.load(std::memory_order_relaxed) ? Status::kStopping : Status::kLatchTimeout;
  }
  connection.held_latches.set(step.kind_or_latch);
  // Service that degrades: a holder walks the list of those who wait, as a deadlock check does.
  return burn(std::int64_t{step.value} * latch.waiters());
}

// For a latch that somebody holds; false when it was not free in time.
bool Executor::contend(Latch& latch, const Step& step, Execution& execution) const {
  const Latch::Waiting waiting(latch);
  const LatchOwner owner = &execution.connection;
  const std::int64_t begin_ns = now_ns();
  bool taken = spin(latch, owner, begin_ns + (step.aux >> kSpinShift) * std::int64_t{1'000});
  if (!taken) {
    std::optional<ReportedWait> reported;
    if (is_reported(step)) reported.emplace(execution, WaitKind::kRowLock);
    const auto timeout_ns = static_cast<std::int64_t>(settings_.latch_timeout_s * 1e9);
    taken = latch.acquire_sleeping(owner, begin_ns + timeout_ns);
  }
  execution.stats.counters.latch_waits.add();
  if (settings_.instrument) {
    execution.stats.record(Timing::kLatchWait, whole_us(now_ns() - begin_ns));
  }
  return taken;
}

Status Executor::wait(const Step& step, Execution& execution) const {
  std::optional<ReportedWait> reported;
  if (is_reported(step)) reported.emplace(execution, static_cast<WaitKind>(step.kind_or_latch));
  return sleep(std::int64_t{step.value} * 1'000);
}

Status Executor::burn(std::int64_t cpu_ns) const {
  if (cpu_ns <= 0) return Status::kOk;
  const std::int64_t end_ns = thread_cpu_ns() + cpu_ns;
  volatile std::uint64_t state = 1;
  while (true) {
    for (int i = 0; i < kBurnLoops; ++i) state = state * 2'862'933'555'777'941'757ULL + 3;
    if (thread_cpu_ns() >= end_ns) return Status::kOk;
    if (stopping_.load(std::memory_order_relaxed)) return Status::kStopping;
  }
}

Status Executor::sleep(std::int64_t wall_ns) const {
  const std::int64_t end_ns = now_ns() + wall_ns;
  for (std::int64_t left = wall_ns; left > 0; left = end_ns - now_ns()) {
    if (stopping_.load(std::memory_order_relaxed)) return Status::kStopping;
    const std::int64_t slice = std::min(left, kSliceNs);
    const timespec pause{slice / 1'000'000'000, slice % 1'000'000'000};
    nanosleep(&pause, nullptr);
  }
  return Status::kOk;
}

}  // namespace poolpilot
