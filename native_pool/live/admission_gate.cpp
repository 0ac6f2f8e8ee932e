#include "live/admission_gate.hpp"

#include <algorithm>
#include <utility>

#include "live/connection_home.hpp"
#include "system/clock.hpp"

namespace poolpilot {
namespace {

// A long transaction is noticed at most a tenth of its time late.
int look_every_ms(int escape_ms) {
  return escape_ms == 0 ? 0 : std::clamp(escape_ms / 10, 1, 1'000);
}

std::int64_t now_us() { return now_ns() / 1'000; }

}  // namespace

AdmissionGate::AdmissionGate(const AdmissionSettings& settings, const std::vector<int>& cpus)
    : settings_(settings),
      admission_(settings),
      limit_(settings.admission_limit),
      look_every_ms_(look_every_ms(settings.admission_escape_ms)),
      timer_(cpus, [this] { look_for_long_ones(); }) {}

void AdmissionGate::start() {
  if (is_on()) start_timer();
}

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

void AdmissionGate::set_limit(int limit) {
  check_admission_limit(limit);
  if (limit > 0) start_timer();
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    woken = admission_.set_limit(limit, now_us());
    limit_.store(limit, std::memory_order_relaxed);
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

// A pool that never has a limit never has the thread.
void AdmissionGate::start_timer() {
  if (timer_runs_ || look_every_ms_ == 0) return;
  timer_.start(look_every_ms_);
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
