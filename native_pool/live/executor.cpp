#include "live/executor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "live/clock.hpp"

namespace poolpilot {
namespace {

constexpr std::int64_t kSliceNs = 50'000'000;  // a stopping server is noticed at least this often
constexpr int kBurnLoops = 4'000;              // some microseconds of work between looks at a clock

// Time this thread was runnable but not running, from the kernel's schedstat; -1 where there is
// none.
std::int64_t run_delay_ns() {
  const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[96];
  const ssize_t length = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (length <= 0) return -1;
  text[length] = '\0';
  long long on_cpu = 0;
  long long waiting = 0;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel prints 64 bits
  return std::sscanf(text, "%lld %lld", &on_cpu, &waiting) == 2 ? waiting : -1;
}

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

// The active and wait rounds of one request. The cheap part is two reads of the monotonic clock a
// round; the dear part (CPU clock, schedstat, rusage) runs for sampled requests only.
class Executor::Rounds {
 public:
  Rounds(WorkerStats& stats, const ExecutorSettings& settings) : stats_(stats) {
    on_ = settings.instrument;
    if (!on_) return;
    // Sampling by the thread's own count needs no shared state and cannot follow a class's pattern
    // unless a client sends with exactly this period.
    sampled_ = stats.completed.value() % std::max(settings.sample_every, 1) == 0;
    if (sampled_) getrusage(RUSAGE_THREAD, &usage_);
    begin_active();
  }

  void finish() {
    if (!on_) return;
    end_active();
    stats_.active_rounds.record(rounds_);
    if (!sampled_) return;
    rusage after{};
    getrusage(RUSAGE_THREAD, &after);
    stats_.sampled_requests.add();
    stats_.voluntary_switches.add(after.ru_nvcsw - usage_.ru_nvcsw);
    stats_.involuntary_switches.add(after.ru_nivcsw - usage_.ru_nivcsw);
  }

  void begin_wait() {
    if (!on_) return;
    end_active();
    begin_ns_ = now_ns();
  }

  void end_wait() {
    if (!on_) return;
    stats_.wait_round_us.record(whole_us(now_ns() - begin_ns_));
    begin_active();
  }

 private:
  void begin_active() {
    if (sampled_) {
      begin_delay_ns_ = run_delay_ns();
      begin_cpu_ns_ = thread_cpu_ns();
    }
    begin_ns_ = now_ns();
  }

  void end_active() {
    ++rounds_;
    stats_.active_round_us.record(whole_us(now_ns() - begin_ns_));
    if (!sampled_) return;
    stats_.round_cpu_us.record(whole_us(thread_cpu_ns() - begin_cpu_ns_));
    const std::int64_t delay_ns = run_delay_ns();
    if (begin_delay_ns_ >= 0 && delay_ns >= 0) {
      stats_.run_delay_us.record(whole_us(delay_ns - begin_delay_ns_));
    }
  }

  WorkerStats& stats_;
  bool on_ = false;
  bool sampled_ = false;
  std::uint64_t rounds_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t begin_cpu_ns_ = 0;
  std::int64_t begin_delay_ns_ = -1;
  rusage usage_{};
};

Status Executor::run(Connection& connection, WaitReporter& reporter, WorkerStats& stats) {
  Rounds rounds(stats, settings_);
  Status status = Status::kOk;
  for (const Step& step : connection.request.steps) {
    switch (step.op) {
      case Op::kCpu:
        burn(std::int64_t{step.value} * 1'000);
        break;
      case Op::kWait:
        wait(step, reporter, rounds, stats);
        break;
      case Op::kAcquire:
        if (!acquire(connection, step, reporter, rounds, stats)) status = Status::kLatchTimeout;
        break;
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
    if (status != Status::kOk) break;
  }
  if (status != Status::kOk || !connection.in_transaction) abandon(connection);
  rounds.finish();
  return status;
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

bool Executor::acquire(Connection& connection, const Step& step, WaitReporter& reporter,
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
        stats.waits[static_cast<std::size_t>(WaitKind::kRowLock)].add();
      }
      const auto timeout_ns = static_cast<std::int64_t>(settings_.latch_timeout_s * 1e9);
      taken = latch.acquire_sleeping(&connection, begin_ns + timeout_ns);
      if (reported) {
        reporter.wait_end();
        rounds.end_wait();
      }
    }
    stats.latch_waits.add();
    if (settings_.instrument) stats.latch_wait_us.record(whole_us(now_ns() - begin_ns));
  }
  if (!taken) return false;
  connection.held_latches.set(step.kind_or_latch);
  // Service that degrades: a holder walks the list of those who wait, as a deadlock check does.
  burn(std::int64_t{step.value} * latch.waiters());
  return true;
}

void Executor::wait(const Step& step, WaitReporter& reporter, Rounds& rounds, WorkerStats& stats) {
  const bool reported = (step.aux & kReported) != 0;
  if (reported) {
    stats.waits[step.kind_or_latch].add();
    rounds.begin_wait();
    reporter.wait_begin();
  }
  sleep(std::int64_t{step.value} * 1'000);
  if (reported) {
    reporter.wait_end();
    rounds.end_wait();
  }
}

void Executor::burn(std::int64_t cpu_ns) const {
  if (cpu_ns <= 0) return;
  const std::int64_t end_ns = thread_cpu_ns() + cpu_ns;
  volatile std::uint64_t state = 1;
  do {
    for (int i = 0; i < kBurnLoops; ++i) state = state * 2'862'933'555'777'941'757ULL + 3;
  } while (thread_cpu_ns() < end_ns && !stopping_.load(std::memory_order_relaxed));
}

void Executor::sleep(std::int64_t wall_ns) const {
  const std::int64_t end_ns = now_ns() + wall_ns;
  for (std::int64_t left = wall_ns; left > 0 && !stopping_.load(std::memory_order_relaxed);
       left = end_ns - now_ns()) {
    const std::int64_t slice = std::min(left, kSliceNs);
    const timespec pause{slice / 1'000'000'000, slice % 1'000'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace poolpilot
