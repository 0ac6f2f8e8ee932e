#include "sim/pool.hpp"

#include <algorithm>

namespace poolpilot::sim {
namespace {

constexpr std::uint64_t kDiskStream = 2;
constexpr int kEventsBetweenLooks = 4096;  // at the stop flag
constexpr int kMostIdleTicks = 3;

SimulationSettings checked(const SimulationSettings& settings) {
  check(settings);
  return settings;
}

}  // namespace

SimulatedPool::SimulatedPool(const SimulationSettings& settings)
    : settings_(checked(settings)),
      tuple_(settings.tuple),
      cpu_(settings.machine.cpus, settings.machine.contention),
      client_(settings.load, settings.machine.client_shares ? 0.0 : settings.machine.client_us),
      connections_(static_cast<std::size_t>(settings.load.connections)),
      disks_(static_cast<std::size_t>(settings.machine.disks),
             Station(settings.machine.disk_channels)),
      disk_random_(settings.load.seed, kDiskStream),
      timings_(settings.load.classes.size()) {
  for (const load::ClassSpec& spec : settings_.load.classes) class_names_.push_back(spec.name);
  if (settings_.machine.client_shares) threads_.emplace_back().phase = Phase::kClient;
  open_groups(tuple_.pool_size);
  for (std::uint32_t i = 0; i < connections_.size(); ++i) welcome(i);
  client_.begin(events_, connections_);
  arm_timer();
}

GroupSettings SimulatedPool::group_settings() const {
  GroupSettings group = settings_.group;
  group.oversubscribe = tuple_.oversubscribe;
  group.timer_interval_ms = tuple_.timer_interval_ms;
  group.create_thread_on_wait = tuple_.create_thread_on_wait;
  return group;
}

void SimulatedPool::open_groups(int count) {
  while (groups_.size() < static_cast<std::size_t>(count)) groups_.emplace_back(group_settings());
  if (settings_.record_events) logs_.resize(groups_.size());
}

PoolTuple SimulatedPool::set_tuple(const PoolTuple& tuple) {
  poolpilot::check(tuple, settings_.max_pool_size);
  const bool same_interval = tuple.timer_interval_ms == tuple_.timer_interval_ms;
  tuple_ = tuple;
  open_groups(tuple.pool_size);
  for (Group& group : groups_) group.machine.configure(group_settings());
  ++tuple_epoch_;
  if (!same_interval) {
    ++timer_epoch_;  // the tick under way is void
    arm_timer();
  }
  return tuple_;
}

bool SimulatedPool::run(const RunLimits& limits) {
  const auto until_ns = whole_ns(limits.until_s * 1e9);
  const std::int64_t last_event =
      limits.events == INT64_MAX ? INT64_MAX : events_done_ + limits.events;
  const auto at_least_ns = whole_ns(limits.at_least_until_s * 1e9);
  while (answered() < limits.until_answered || now_ns_ < at_least_ns) {
    if (events_done_ >= last_event) return false;
    if (events_done_ % kEventsBetweenLooks == 0 && limits.stop != nullptr &&
        limits.stop->load(std::memory_order_relaxed)) {
      return false;
    }
    const TimeNs event_ns = events_.next_ns();
    const TimeNs burst_ns = cpu_.next_ns();
    const TimeNs next_ns = std::min(event_ns, burst_ns);
    if (next_ns > until_ns) {
      now_ns_ = std::max(now_ns_, until_ns);
      return true;
    }
    now_ns_ = next_ns;
    ++events_done_;
    if (burst_ns <= event_ns) {
      const std::uint32_t thread = cpu_.finish();
      if (thread != kNobody) burst_over(thread);
    } else {
      happen(events_.pop().what);
    }
  }
  return true;
}

void SimulatedPool::burst_over(std::uint32_t number) {
  end_burst(number);
  Thread& thread = threads_[number];
  switch (thread.phase) {
    case Phase::kSpinning:
      return spun(number);
    case Phase::kCreated:
      return get_event(number);
    case Phase::kWorker:
      apply(thread.group, EventKind::kAwake);
      return look_for_work(number);
    case Phase::kListener:
      return listen(number);
    case Phase::kLatch:
      return try_again(number);
    case Phase::kWaiting:
      unblock(number);
      return go_on(number);
    case Phase::kFlushing:
      unblock(number);
      abandon(thread.connection);
      return go_on(number);
    case Phase::kClient:
      return client_has_worked();
    case Phase::kLogin: {
      const std::uint32_t connection = thread.connection;
      connections_[connection].thread = kNobody;
      thread.connection = kNobody;
      arm(connection);
      return get_event(number);
    }
    default:
      return go_on(number);
  }
}

void SimulatedPool::happen(std::uint32_t what) {
  const std::uint32_t number = what & kNumberMask;
  switch (static_cast<EventIs>(what >> kNumberBits)) {
    case EventIs::kThread:
      return thread_event(number);
    case EventIs::kLeave:
      return client_.leave(number, now_ns_, events_, connections_);
    case EventIs::kSend:
      return settings_.machine.client_shares ? queue_at_client(number) : receive(number);
    case EventIs::kArrival:
      if (client_.is_current(number)) client_.arrive(now_ns_, events_, connections_);
      return;
    case EventIs::kTick:
      return tick(number);
    case EventIs::kIdleCheck:
      return expire_sleepers(number);
    case EventIs::kLatchCheck:
      return expire_latch_waits(number);
    case EventIs::kChange:
      return client_.change(number, now_ns_, events_, connections_);
    case EventIs::kFlushed:
      return flushed();
  }
}

void SimulatedPool::thread_event(std::uint32_t number) {
  Thread& thread = threads_[number];
  if (thread.phase == Phase::kAtDisk) {
    std::uint32_t next = 0;
    if (disks_[thread.disk].leave(next)) schedule(whole_ns(threads_[next].service_ns), next);
    thread.phase = Phase::kWaiting;
  }
  wake(number);
}

// The load generator runs on the machine's processors: a thread of no group.
void SimulatedPool::queue_at_client(std::uint32_t connection) {
  to_send_.push_back(connection);
  if (to_send_.size() == 1) schedule(whole_ns(settings_.machine.wake_us * 1e3), kClientThread);
}

void SimulatedPool::client_has_worked() {
  if (client_awake_) {
    const std::uint32_t connection = to_send_.front();
    to_send_.pop_front();
    client_.sends_now(connection, now_ns_, connections_);
    receive(connection);
  }
  client_awake_ = !to_send_.empty();
  if (client_awake_) burst(kClientThread, settings_.machine.client_us * 1e3, Phase::kClient);
}

// Sleepers of a group, and of a latch, have one check before them that counts, that of their first
// deadline, `first_ns`: an event for each would fill the heap. One that an earlier deadline has
// overtaken does nothing when it happens. True when `time_ns` is the first now.
bool SimulatedPool::push_first(TimeNs& first_ns, TimeNs time_ns, std::uint32_t event) {
  if (first_ns <= time_ns) return false;
  first_ns = std::max(time_ns, now_ns_);
  events_.push(first_ns, event);
  return true;
}

void SimulatedPool::schedule(TimeNs delay_ns, std::uint32_t thread) {
  events_.push(now_ns_ + delay_ns, event_of(EventIs::kThread, thread));
}

void SimulatedPool::tick(std::uint32_t epoch) {
  if (epoch != (timer_epoch_ & kNumberMask)) return;
  detect_standstill();
  tick_ns_ = now_ns_;
  const std::int64_t kickup_us = std::int64_t{settings_.prio_kickup_ms} * 1'000;
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    if (group.machine.state().connection_count == 0) continue;
    group.queue.kick_up(tick_ns_ / 1'000, kickup_us);
    perform(apply(i, EventKind::kTick).spawn, i);
  }
  arm_timer();
}

// A tick is a little late, as of every thread that sleeps; the interval begins when it is over.
void SimulatedPool::arm_timer() {
  const TimeNs interval_ns = std::int64_t{tuple_.timer_interval_ms} * 1'000'000;
  const double late_us = settings_.machine.wake_us + settings_.machine.timer_slack_us;
  events_.push(now_ns_ + interval_ns + whole_ns(late_us * 1e3),
               event_of(EventIs::kTick, timer_epoch_));
}

// Nothing but idle times that end and ticks of the timer can happen, and the ticks change nothing:
// those who wait will wait for ever.
void SimulatedPool::detect_standstill() {
  std::size_t idle_checks = 0;
  for (const Group& group : groups_) idle_checks += group.idle_checks;
  const bool still = cpu_.runnable() == 0 && events_.size() <= idle_checks && in_flight() > 0;
  idle_ticks_ = still ? idle_ticks_ + 1 : 0;
  if (idle_ticks_ >= kMostIdleTicks) throw Deadlock("The pool stands still: " + waits_text());
}

std::int64_t SimulatedPool::thread_changes() const {
  GroupCounters counters;
  for (const Group& group : groups_) add(counters, group.machine.counters_at(now_ns_ / 1'000));
  return counters.thread_creations + counters.wakes_stall;
}

PoolSnapshot SimulatedPool::snapshot() const {
  PoolSnapshot snapshot;
  snapshot.tuple = tuple_;
  snapshot.tuple_epoch = tuple_epoch_;
  snapshot.time_s = now_s();
  GroupCounters counters;
  GroupState state;
  for (const Group& group : groups_) {
    add(counters, group.machine.counters_at(now_ns_ / 1'000));
    add(state, group.machine.state());
  }
  put_group_counts(snapshot, counters, state);
  create_us_.add_to(snapshot.histograms["thread_create_us"]);
  put_worker_counts(snapshot, counters_);
  std::vector<HistogramCounts> timings;
  timings_.add_to(timings);
  put_timings(snapshot, std::move(timings), class_names_);
  snapshot.gauges["connections"] = static_cast<double>(connections_.size());
  snapshot.gauges["cpus"] = settings_.machine.cpus;
  snapshot.counters["process_cpu_us"] = cpu_.busy_ns(now_ns_) / 1e3;
  for (const char* name : {"protocol_errors", "slow_readers", "refused_connections",
                           "unarmed_connections", "timed_out_connections", "accept_shortages"}) {
    snapshot.counters[name] = 0.0;
  }
  return snapshot;
}

}  // namespace poolpilot::sim
