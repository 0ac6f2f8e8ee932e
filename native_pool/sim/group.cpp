#include "sim/group.hpp"

#include <algorithm>

namespace poolpilot::sim {
namespace {

constexpr int kMaxPolled = 1024;  // as live/group.cpp: events of one poll

}  // namespace

void Group::welcome(std::uint32_t number) {
  adopt(number);
  connections_[number].enqueued_ns = engine_.now_ns();
  queue_.put(number, Priority::kHigh, tick_us_);
  perform(apply(EventKind::kArrived).spawn);
}

void Group::adopt(std::uint32_t number) {
  connections_[number].group = number_;
  perform(apply(EventKind::kConnectionAdded).spawn);
}

void Group::requeue(std::uint32_t number) {
  queue_.put(number, Priority::kHigh, tick_us_);
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
  if (decision.self == Self::kPoll) decision = apply(EventKind::kPolled, poll());
  switch (decision.self) {
    case Self::kTake:
      return queue_.take();
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
    const Decision decision = apply(EventKind::kListened, poll());
    perform(decision.spawn);
    if (decision.self == Self::kTake) return queue_.take();
  }
  listener_ = number;
  engine_.thread(number).phase = Phase::kSleeping;
  return kNobody;
}

int Group::poll() {
  int queued = 0;
  while (!ready_.empty() && queued < kMaxPolled) {
    const std::uint32_t number = ready_.front();
    ready_.pop_front();
    Connection& connection = connections_[number];
    connection.enqueued_ns = engine_.now_ns();
    queue_.put(number, connection.in_transaction ? Priority::kHigh : Priority::kLow, tick_us_);
    ++queued;
  }
  return queued;
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

void Group::tick(std::int64_t kickup_us) {
  tick_us_ = engine_.now_us();
  if (machine_.state().connection_count == 0 && queue_.empty()) return;
  queue_.kick_up(tick_us_, kickup_us);
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
  const Event event{kind, engine_.now_us(), n, engine_.is_full()};
  const Decision decision = machine_.apply(event);
  if (log_ != nullptr) log_->entries.push_back({event, decision, machine_.settings()});
  return decision;
}

}  // namespace poolpilot::sim
