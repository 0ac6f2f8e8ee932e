#include "live/rounds.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "system/clock.hpp"

namespace poolpilot {

void RunDelay::open() {
  file_ = Descriptor(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
}

std::int64_t RunDelay::read_ns() const {
  char text[96];
  const ssize_t length = pread(file_.get(), text, sizeof(text), 0);
  if (length <= 0) return -1;
  const char* end = text + length;
  const char* second = std::find<const char*>(text, end, ' ');  // after the time on a processor
  std::int64_t waiting_ns = -1;
  if (second != end) std::from_chars(second + 1, end, waiting_ns);
  return waiting_ns;
}

Rounds::Rounds(WorkerStats& stats, bool on, bool sampled, std::int64_t start_ns)
    : stats_(stats), on_(on), sampled_(sampled) {
  if (!on_) return;
  if (sampled_) {
    delay_.open();
    getrusage(RUSAGE_THREAD, &usage_);
  }
  begin_active(start_ns);
}

std::int64_t Rounds::finish() {
  const std::int64_t end_ns = now_ns();
  if (!on_) return end_ns;
  end_active(end_ns);
  stats_.record(Timing::kActiveRounds, rounds_);
  if (sampled_) count_switches();
  return end_ns;
}

void Rounds::begin_wait() {
  if (!on_) return;
  begin_ns_ = end_active(now_ns());
}

void Rounds::end_wait() {
  if (!on_) return;
  const std::int64_t end_ns = now_ns();
  stats_.record(Timing::kWaitRound, whole_us(end_ns - begin_ns_));
  begin_active(end_ns);
}

void Rounds::count_switches() {
  rusage after{};
  getrusage(RUSAGE_THREAD, &after);
  stats_.counters.sampled_requests.add();
  stats_.counters.voluntary_switches.add(after.ru_nvcsw - usage_.ru_nvcsw);
  stats_.counters.involuntary_switches.add(after.ru_nivcsw - usage_.ru_nivcsw);
}

void Rounds::begin_active(std::int64_t time_ns) {
  begin_ns_ = time_ns;
  if (!sampled_) return;
  begin_delay_ns_ = delay_.read_ns();
  begin_cpu_ns_ = thread_cpu_ns();
  begin_ns_ = now_ns();  // what the sample itself took is no part of the round
}

// Returns when what comes next begins.
std::int64_t Rounds::end_active(std::int64_t time_ns) {
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

}  // namespace poolpilot
