#include "live/admission_gate.hpp"

#include <algorithm>
#include <utility>

#include "live/connection_home.hpp"
#include "system/clock.hpp"

namespace poolpilot {
namespace {

// A long transaction is noticed at most a tenth of its time late.
int look_every_ms(int escape_ms) { return std::clamp(escape_ms / 10, 1, 1'000); }

std::int64_t now_us() { return now_ns() / 1'000; }

}  // namespace

AdmissionGate::AdmissionGate(const AdmissionSettings& settings, const std::vector<int>& cpus)
    : admission_(settings),
      limit_(settings.admission_limit),
      exempt_class_(settings.admission_exempt_class),
      first_(settings),
      timer_(cpus, [this] { look_for_long_ones(); }) {}

void AdmissionGate::start() { run_timer(first_); }

void AdmissionGate::stop() { timer_.stop(); }

Admittance AdmissionGate::enter(Connection& connection) {
  const std::lock_guard lock(mutex_);
  return admission_.enter(connection, now_us());
}

void AdmissionGate::leave(Connection& connection, ConnectionHome* host) {
  if (!connection.is_admitted()) return;
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    woken = admission_.leave(connection, now_us());
  }
  serve_again(std::move(woken), host);
}

void AdmissionGate::configure(const AdmissionSettings& settings) {
  require_ranges(settings);
  run_timer(settings);
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    woken = admission_.configure(settings, now_us());
    limit_.store(settings.admission_limit, std::memory_order_relaxed);
    exempt_class_.store(settings.admission_exempt_class, std::memory_order_relaxed);
  }
  serve_again(std::move(woken), nullptr);
}

void AdmissionGate::look_for_long_ones() {
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    woken = admission_.expire(now_us());
  }
  serve_again(std::move(woken), nullptr);
}

// A pool in which nobody ever escapes never has the thread; once it runs, a look in vain costs
// nothing.
void AdmissionGate::run_timer(const AdmissionSettings& settings) {
  if (settings.admission_limit == 0 || settings.admission_escape_ms == 0) return;
  const int interval_ms = look_every_ms(settings.admission_escape_ms);
  if (timer_runs_) return timer_.set_interval(interval_ms);
  timer_.start(interval_ms);
  timer_runs_ = true;
}

void AdmissionGate::serve_again(Woken woken, ConnectionHome* host) {
  while (AdmissionTicket* ticket = woken.take()) {
    auto& connection = static_cast<Connection&>(*ticket);
    (host != nullptr ? host : connection.home)->requeue(connection);
  }
}

void AdmissionGate::add_counts(PoolSnapshot& snapshot) const {
  const std::lock_guard lock(mutex_);
  put_admission_counts(snapshot, admission_.counters_at(now_us()), admission_.state());
}

}  // namespace poolpilot
