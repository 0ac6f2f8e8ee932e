#include "sim/group.hpp"

#include <algorithm>

namespace poolpilot::sim {
namespace {

constexpr int kMaxPolled = 1024;  // as live/group.cpp: events of one poll

}  // namespace

void Group::welcome(std::uint32_t number) {
  adopt(number);
  connections_[number].enqueued_ns = engine_.now_ns();
  queues_.put_urgent(number, queue_clock_us());
  perform(apply(EventKind::kArrived).spawn);
}

void Group::adopt(std::uint32_t number) {
  connections_[number].group = number_;
  perform(apply(EventKind::kConnectionAdded).spawn);
}

// One of another group is counted as a connection of this one until its turn is over.
void Group::requeue(std::uint32_t number) {
  if (connections_[number].group != number_) {
    perform(apply(EventKind::kConnectionAdded).spawn);
  }
  queues_.put_again(number, connections_[number].queue, queue_clock_us());
  perform(apply(EventKind::kArrived).spawn);
}

void Group::receive(std::uint32_t number) {
  ready_.push_back(number);
  if (listener_ == kNobody || listener_called_) return;
  listener_called_ = true;
  call(listener_, Phase::kListener);
}

std::uint32_t Group::next(std::uint32_t number) {
  Decision decision = apply(EventKind::kWorkerIdle);
  if (decision.self == Self::kPoll) decision = apply(EventKind::kPolled, poll(number));
  switch (decision.self) {
    case Self::kTake:
      return take();
    case Self::kListen:
      return listen(number);
    default:
      fall_asleep(number);
      return kNobody;
  }
}

std::uint32_t Group::awake(std::uint32_t number) {
  apply(EventKind::kAwake);
  return next(number);
}

std::uint32_t Group::listen(std::uint32_t number) {
  listener_ = kNobody;
  listener_called_ = false;
  while (!ready_.empty()) {
    const Decision decision = apply(EventKind::kListened, poll(number));
    perform(decision.spawn);
    if (decision.self == Self::kTake) return take();
  }
  listener_ = number;
  engine_.thread(number).phase = Phase::kSleeping;
  return kNobody;
}

std::uint32_t Group::take() {
  if (queues_.ages_between_ticks()) queues_.age(engine_.now_us());
  const Queues::Taken taken = queues_.take();
  Connection& connection = connections_[taken.item];
  connection.taken_by = number_;
  connection.queue = taken.queue;
  connection.expected_us = taken.expected_us;
  connection.taken_ns = engine_.now_ns();
  return taken.item;
}

void Group::served(std::uint32_t number) {
  if (!queues_.counts_time()) return;
  const Connection& connection = connections_[number];
  const double served_us = static_cast<double>(engine_.now_ns() - connection.taken_ns) / 1e3;
  queues_.serve({number, connection.queue, connection.expected_us}, served_us);
}

int Group::poll(std::uint32_t thread) {
  int queued = 0;
  while (!ready_.empty() && queued < kMaxPolled) {
    const std::uint32_t number = ready_.front();
    ready_.pop_front();
    Connection& connection = connections_[number];
    connection.enqueued_ns = engine_.now_ns();
    queues_.put(number, connection, connection.class_id, queue_clock_us());
    ++queued;
  }
  if (queues_.class_known() == ClassKnown::kPeeked) {
    engine_.thread(thread).owed_ns += queued * engine_.machine().peek_us * 1e3;
  }
  return queued;
}

std::int64_t Group::queue_clock_us() const {
  return queues_.by_ticks() ? tick_us_ : engine_.now_us();
}

void Group::configure(const PoolTuple& tuple, const PoolKnobs& knobs) {
  machine_.configure(group_settings(tuple, knobs));
  queues_.set_kick_up_ms(knobs.prio_kickup_ms);
  queues_.set_weights(knobs.weights);
}

void Group::fall_asleep(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  thread.phase = Phase::kSleeping;
  sleepers_.push_back(number);
  check_idle_at(thread.idle_until_ns);
}

void Group::check_idle_at(TimeNs time_ns) {
  const std::uint32_t event = event_of(EventIs::kIdleCheck, number_);
  if (engine_.push_first(idle_check_ns_, time_ns, event)) ++idle_checks_;
}

void Group::expire_sleepers() {
  --idle_checks_;
  if (engine_.now_ns() != idle_check_ns_) return;
  TimeNs next_ns = kNever;
  std::size_t kept = 0;
  for (const std::uint32_t number : sleepers_) {
    const TimeNs idle_until_ns = engine_.thread(number).idle_until_ns;
    if (idle_until_ns <= engine_.now_ns()) {
      apply(EventKind::kSleeperLeaves);
      engine_.end_thread(number);
      continue;
    }
    next_ns = std::min(next_ns, idle_until_ns);
    sleepers_[kept++] = number;
  }
  sleepers_.resize(kept);
  idle_check_ns_ = kNever;
  check_idle_at(next_ns);
}

void Group::tick() {
  tick_us_ = engine_.now_us();
  if (machine_.state().connection_count == 0 && queues_.empty()) return;
  queues_.age(tick_us_);
  perform(apply(EventKind::kTick).spawn);
}

void Group::call(std::uint32_t number, Phase phase) {
  engine_.thread(number).phase = phase;
  engine_.schedule(static_cast<TimeNs>(engine_.machine().wake_us * 1e3), number);
}

void Group::perform(Spawn spawn) {
  if (spawn == Spawn::kWake) {
    const std::uint32_t woken = sleepers_.back();
    sleepers_.pop_back();
    call(woken, Phase::kWorker);
  }
  if (spawn == Spawn::kCreate) engine_.start_thread(number_);
}

Decision Group::apply(EventKind kind, int n) {
  return machine_.apply({kind, engine_.now_us(), n, engine_.is_full()});
}

}  // namespace poolpilot::sim
