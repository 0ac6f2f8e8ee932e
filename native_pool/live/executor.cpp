#include "live/executor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "system/clock.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {
namespace {

constexpr std::int64_t kSliceNs = 50'000'000;  // a stopping server is noticed at least this often
constexpr int kBurnLoops = 4'000;              // some microseconds of work between looks at a clock

// Time a thread was runnable but not running, from the kernel's schedstat. Opened once a request
// that is sampled: kept open it would cost a descriptor a thread.
class RunDelay {
 public:
  void open() { file_ = Descriptor(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)); }

  // -1 where there is none.
  std::int64_t read_ns() const {
    char text[96];
    const ssize_t length = pread(file_.get(), text, sizeof(text), 0);
    if (length <= 0) return -1;
    const char* end = text + length;
    const char* second = std::find<const char*>(text, end, ' ');  // after the time on a processor
    std::int64_t waiting_ns = -1;
    if (second != end) std::from_chars(second + 1, end, waiting_ns);
    return waiting_ns;
  }

 private:
  Descriptor file_;
};

std::uint64_t whole_us(std::int64_t ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0) / 1'000);
}

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

}  // namespace

// The active and wait rounds of one request. The cheap part is one read of the monotonic clock a
// round; the dear part (CPU clock, schedstat, rusage) runs for sampled requests only.
class Executor::Rounds {
 public:
  Rounds(WorkerStats& stats, bool on, bool sampled, std::int64_t start_ns)
      : stats_(stats), on_(on), sampled_(sampled) {
    if (!on_) return;
    if (sampled_) {
      delay_.open();
      getrusage(RUSAGE_THREAD, &usage_);
    }
    begin_active(start_ns);
  }

  // Returns when that was.
  std::int64_t finish() {
    const std::int64_t end_ns = now_ns();
    if (!on_) return end_ns;
    end_active(end_ns);
    stats_.record(Timing::kActiveRounds, rounds_);
    if (sampled_) count_switches();
    return end_ns;
  }

  void begin_wait() {
    if (!on_) return;
    begin_ns_ = end_active(now_ns());
  }

  void end_wait() {
    if (!on_) return;
    const std::int64_t end_ns = now_ns();
    stats_.record(Timing::kWaitRound, whole_us(end_ns - begin_ns_));
    begin_active(end_ns);
  }

 private:
  void count_switches() {
    rusage after{};
    getrusage(RUSAGE_THREAD, &after);
    stats_.counters.sampled_requests.add();
    stats_.counters.voluntary_switches.add(after.ru_nvcsw - usage_.ru_nvcsw);
    stats_.counters.involuntary_switches.add(after.ru_nivcsw - usage_.ru_nivcsw);
  }

  void begin_active(std::int64_t time_ns) {
    begin_ns_ = time_ns;
    if (!sampled_) return;
    begin_delay_ns_ = delay_.read_ns();
    begin_cpu_ns_ = thread_cpu_ns();
    begin_ns_ = now_ns();  // what the sample itself took is no part of the round
  }

  // Returns when what comes next begins.
  std::int64_t end_active(std::int64_t time_ns) {
    ++rounds_;
    stats_.record(Timing::kActiveRound, whole_us(time_ns - begin_ns_));
    if (!sampled_) return time_ns;
    stats_.record(Timing::kRoundCpu, whole_us(thread_cpu_ns() - begin_cpu_ns_));
    const std::int64_t delay_ns = delay_.read_ns();
    if (begin_delay_ns_ >= 0 && delay_ns >= 0) {
      stats_.record(Timing::kRunDelay, whole_us(delay_ns - begin_delay_ns_));
    }
    return now_ns();
  }

  WorkerStats& stats_;
  const bool on_;
  const bool sampled_;
  std::uint64_t rounds_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t begin_cpu_ns_ = 0;
  std::int64_t begin_delay_ns_ = -1;
  RunDelay delay_;
  rusage usage_{};
};

Status Executor::run(Connection& connection, WaitReporter& reporter, WorkerStats& stats,
                     std::int64_t start_ns) {
  const bool sampled = settings_.instrument && is_sampled(stats, start_ns);
  Rounds rounds(stats, settings_.instrument, sampled, start_ns);
  Status status = Status::kOk;
  for (const Step& step : connection.request.steps) {
    status = run_step(connection, step, reporter, rounds, stats);
    if (status != Status::kOk) break;
  }
  if (status != Status::kOk || !connection.in_transaction) abandon(connection);
  connection.last_response_ns = rounds.finish();
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

Status Executor::run_step(Connection& connection, const Step& step, WaitReporter& reporter,
                          Rounds& rounds, WorkerStats& stats) {
  switch (step.op) {
    case Op::kCpu:
      return burn(std::int64_t{step.value} * 1'000);
    case Op::kWait:
      return wait(step, reporter, rounds, stats);
    case Op::kAcquire:
      return acquire(connection, step, reporter, rounds, stats);
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

Status Executor::acquire(Connection& connection, const Step& step, WaitReporter& reporter,
                         Rounds& rounds, WorkerStats& stats) {
  Latch& latch = latches_[step.kind_or_latch];
  bool taken = latch.try_acquire(&connection);
  if (!taken) {
    const Latch::Waiting waiting(latch);
    const std::int64_t begin_ns = now_ns();
    const std::int64_t spin_until_ns = begin_ns + (step.aux >> kSpinShift) * std::int64_t{1'000};
    while (!taken && now_ns() < spin_until_ns) {
      relax();
      taken = latch.try_acquire(&connection);
    }
    if (!taken) {
      const bool reported = (step.aux & kReported) != 0;
      if (reported) {
        rounds.begin_wait();
        reporter.wait_begin();
        stats.counters.waits[static_cast<std::size_t>(WaitKind::kRowLock)].add();
      }
      const auto timeout_ns = static_cast<std::int64_t>(settings_.latch_timeout_s * 1e9);
      taken = latch.acquire_sleeping(&connection, begin_ns + timeout_ns);
      if (reported) {
        reporter.wait_end();
        rounds.end_wait();
      }
    }
    stats.counters.latch_waits.add();
    if (settings_.instrument) stats.record(Timing::kLatchWait, whole_us(now_ns() - begin_ns));
  }
  if (!taken) {
    return stopping_.load(std::memory_order_relaxed) ? Status::kStopping : Status::kLatchTimeout;
  }
  connection.held_latches.set(step.kind_or_latch);
  // Service that degrades: a holder walks the list of those who wait, as a deadlock check does.
  return burn(std::int64_t{step.value} * latch.waiters());
}

Status Executor::wait(const Step& step, WaitReporter& reporter, Rounds& rounds,
                      WorkerStats& stats) {
  const bool reported = (step.aux & kReported) != 0;
  if (reported) {
    stats.counters.waits[step.kind_or_latch].add();
    rounds.begin_wait();
    reporter.wait_begin();
  }
  const Status status = sleep(std::int64_t{step.value} * 1'000);
  if (reported) {
    reporter.wait_end();
    rounds.end_wait();
  }
  return status;
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
