#include "sim/pool.hpp"

#include <algorithm>
#include <stdexcept>

#include "policy/throttle.hpp"

namespace poolpilot::sim {
namespace {

constexpr int kEventsBetweenLooks = 4096;  // at the stop flag
constexpr int kMostIdleTicks = 3;
// So long no group has to wait for its next thread, whatever the timer: the longest throttle is
// Percona's of 200 ms, and its clock counts whole microseconds.
constexpr TimeNs kLongestThrottleNs = 201'000'000;
static_assert(throttle_interval_us(ThrottlePolicy::kPercona, 16, 0, 0) * 1'000 <
              kLongestThrottleNs);

SimulationSettings checked(const SimulationSettings& settings) {
  check(settings);
  return settings;
}

}  // namespace

SimulatedPool::SimulatedPool(const SimulationSettings& settings)
    : settings_(checked(settings)),
      tuple_(settings.tuple),
      knobs_(settings.knobs),
      connections_(static_cast<std::size_t>(settings.load.connections)),
      engine_(settings.machine, settings.knobs.max_threads),
      client_(settings.load, settings.machine.client_shares ? 0.0 : settings.machine.client_us),
      client_thread_(engine_, client_, connections_),
      measures_(settings.load.classes.size()),
      handler_(engine_, connections_, settings_),
      gate_(engine_, connections_, handler_, settings.knobs.admission),
      latches_(engine_, connections_, client_, measures_, settings.latch_timeout_s),
      storage_(engine_, settings.load.seed),
      executor_(engine_, connections_, client_, handler_, gate_, latches_, storage_, measures_) {
  for (std::uint32_t i = 0; i < connections_.size(); ++i) handler_.welcome(i);
  client_.begin(engine_.events(), connections_);
  arm_timer();
}

PoolTuple SimulatedPool::set_tuple(const PoolTuple& tuple) {
  poolpilot::check(tuple, settings_.max_pool_size);
  const bool same_interval = tuple.timer_interval_ms == tuple_.timer_interval_ms;
  tuple_ = tuple;
  handler_.configure(tuple_, knobs_);
  ++tuple_epoch_;
  if (!same_interval) rearm_timer();
  try_again();
  return tuple_;
}

PoolKnobs SimulatedPool::set_knobs(const PoolKnobs& knobs) {
  check_knobs(settings_, knobs);
  if (knobs.admission != knobs_.admission) gate_.configure(knobs.admission);
  knobs_ = knobs;
  engine_.set_max_threads(knobs.max_threads);
  handler_.configure(tuple_, knobs_);
  ++tuple_epoch_;
  try_again();
  return knobs_;
}

bool SimulatedPool::run(const RunLimits& limits) {
  if (!deadlock_.empty()) throw Deadlock(deadlock_);
  try {
    return go_on(limits);
  } catch (const Deadlock& deadlock) {
    deadlock_ = deadlock.what();
    throw;
  }
}

bool SimulatedPool::go_on(const RunLimits& limits) {
  // The clock goes no further than this, so nothing later has to ask for its end.
  if (limits.until_s * 1e9 > static_cast<double>(kLastNs)) {
    throw std::overflow_error(kClockEndsText);
  }
  const auto until_ns = whole_ns(limits.until_s * 1e9);
  const std::int64_t last_event =
      limits.events == INT64_MAX ? INT64_MAX : events_done_ + limits.events;
  const auto at_least_ns = whole_ns(limits.at_least_until_s * 1e9);
  while (answered() < limits.until_answered || engine_.now_ns() < at_least_ns) {
    if (events_done_ >= last_event) return false;
    if (events_done_ % kEventsBetweenLooks == 0 && limits.stop != nullptr &&
        limits.stop->load(std::memory_order_relaxed)) {
      return false;
    }
    const TimeNs event_ns = engine_.next_event_ns();
    const TimeNs burst_ns = engine_.next_burst_ns();
    const TimeNs next_ns = std::min(event_ns, burst_ns);
    if (next_ns > until_ns) {
      engine_.go_to(std::max(engine_.now_ns(), until_ns));
      return true;
    }
    engine_.go_to(next_ns);
    ++events_done_;
    if (burst_ns <= event_ns) {
      const std::uint32_t thread = engine_.end_burst();
      if (thread != kNobody) burst_over(thread);
    } else {
      happen(engine_.take_event());
    }
  }
  return true;
}

void SimulatedPool::burst_over(std::uint32_t number) {
  switch (engine_.thread(number).phase) {
    case Phase::kCreated:
    case Phase::kWorker:
    case Phase::kListener:
    case Phase::kParking:
      return executor_.resume(number);
    case Phase::kLogin:
      return executor_.logged_in(number);
    case Phase::kRefusing:
      return executor_.refused(number);
    case Phase::kSpinning:
      return executor_.spun(number);
    case Phase::kLatch:
      return executor_.try_latch_again(number);
    case Phase::kWaiting:
      return executor_.waited(number);
    case Phase::kFlushing:
      return executor_.committed(number);
    case Phase::kClient:
      return client_has_worked();
    default:
      return executor_.go_on(number);
  }
}

void SimulatedPool::happen(std::uint32_t what) {
  const std::uint32_t number = what & kNumberMask;
  switch (static_cast<EventIs>(what >> kNumberBits)) {
    case EventIs::kThread:
      return thread_event(number);
    case EventIs::kLeave:
      return client_.paused(number, engine_.now_ns(), engine_.events(), connections_);
    case EventIs::kSend:
      return settings_.machine.client_shares ? client_thread_.queue(number)
                                             : handler_.receive(number);
    case EventIs::kArrival:
      if (!client_.is_current(number)) return;
      return client_.arrive(engine_.now_ns(), engine_.events(), connections_);
    case EventIs::kTick:
      return tick(number);
    case EventIs::kIdleCheck:
      return handler_.expire_sleepers(number);
    case EventIs::kStallCheck:
      return handler_.check_stall(number);
    case EventIs::kLatchCheck:
      return latches_.expire_waits(number);
    case EventIs::kAdmissionCheck:
      return gate_.expire();
    case EventIs::kChange:
      return client_.change(number, engine_.now_ns(), engine_.events(), connections_);
    case EventIs::kFlushed:
      return storage_.flushed();
  }
}

void SimulatedPool::client_has_worked() {
  const std::uint32_t sent = client_thread_.burst_over();
  if (sent != kNobody) handler_.receive(sent);
}

void SimulatedPool::thread_event(std::uint32_t number) {
  if (engine_.thread(number).phase == Phase::kAtDisk) storage_.leave_disk(number);
  engine_.wake(number);
}

void SimulatedPool::tick(std::uint32_t epoch) {
  if (epoch != (timer_epoch_ & kNumberMask)) return;
  detect_standstill();
  handler_.tick();
  arm_timer();
}

// A tick is a little late, as of every thread that sleeps; the interval begins when it is over.
void SimulatedPool::arm_timer() {
  const TimeNs interval_ns = std::int64_t{tuple_.timer_interval_ms} * 1'000'000;
  const double late_us = settings_.machine.wake_us + settings_.machine.timer_slack_us;
  engine_.events().push(engine_.now_ns() + interval_ns + whole_ns(late_us * 1e3),
                        event_of(EventIs::kTick, timer_epoch_));
}

void SimulatedPool::rearm_timer() {
  ++timer_epoch_;  // the tick under way is void
  arm_timer();
}

// Nothing but idle times that end and ticks of the timer can happen, and the ticks change nothing,
// not even after the time for which a thread's creation may have been put off: those who wait will
// wait for ever.
void SimulatedPool::detect_standstill() {
  const bool still = engine_.processors().runnable() == 0 &&
                     engine_.events().size() <= handler_.idle_checks() && in_flight() > 0;
  if (!still) {
    idle_ticks_ = 0;
    return;
  }
  const TimeNs now_ns = engine_.now_ns();
  // A thread that the last tick has brought may have taken a request, and sleep again by now.
  if (thread_changes() != changes_by_ticks_) idle_ticks_ = 0;
  changes_by_ticks_ = thread_changes();
  if (idle_ticks_ == 0) first_idle_tick_ns_ = last_idle_tick_ns_ = now_ns;
  // The last tick could create a thread and did not; this one has not done anything yet.
  const bool unthrottled = last_idle_tick_ns_ - first_idle_tick_ns_ > kLongestThrottleNs;
  last_idle_tick_ns_ = now_ns;
  ++idle_ticks_;
  if (idle_ticks_ < kMostIdleTicks || !unthrottled) return;
  stands_still_ = true;
  throw Deadlock("The pool stands still: " + executor_.waits_text());
}

// Other settings may free a pool that stands still, so its timer ticks again. They free no threads
// that wait for each other.
void SimulatedPool::try_again() {
  if (!stands_still_) return;
  stands_still_ = false;
  deadlock_.clear();
  idle_ticks_ = 0;
  rearm_timer();
}

std::int64_t SimulatedPool::thread_changes() const {
  GroupCounters counters;
  GroupState state;
  handler_.add_counts(counters, state);
  return counters.thread_creations + counters.wakes_stall;
}

PoolSnapshot SimulatedPool::snapshot() const {
  PoolSnapshot snapshot;
  snapshot.tuple = tuple_;
  snapshot.tuple_epoch = tuple_epoch_;
  snapshot.time_s = now_s();
  GroupCounters counters;
  GroupState state;
  handler_.add_counts(counters, state);
  put_group_counts(snapshot, counters, state);
  snapshot.counters["unmapped_requests"] = static_cast<double>(handler_.unmapped_requests());
  const auto [to_own_socket, to_epoll] = handler_.hand_overs();
  put_hand_overs(snapshot, to_own_socket, to_epoll);
  engine_.create_us().add_to(snapshot.histograms["thread_create_us"]);
  put_admission_counts(snapshot, gate_.counters(), gate_.state());
  put_worker_counts(snapshot, measures_.counters);
  std::vector<HistogramCounts> timings;
  measures_.timings.add_to(timings);
  std::vector<std::string> class_names;
  for (const load::ClassSpec& spec : settings_.load.classes) class_names.push_back(spec.name);
  put_timings(snapshot, std::move(timings), class_names);
  snapshot.gauges["connections"] = static_cast<double>(connections_.size());
  snapshot.gauges["cpus"] = settings_.machine.cpus;
  snapshot.counters["process_cpu_us"] = engine_.processors().busy_ns(engine_.now_ns()) / 1e3;
  for (const char* name : {"protocol_errors", "slow_readers", "refused_connections",
                           "unserved_connections", "unarmed_connections", "timed_out_connections",
                           "hang_ups", "accept_shortages", "cancelled_requests"}) {
    snapshot.counters[name] = 0.0;
  }
  return snapshot;
}

}  // namespace poolpilot::sim
