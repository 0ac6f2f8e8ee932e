#include <algorithm>

#include "sim/pool.hpp"

namespace poolpilot::sim {
namespace {

constexpr int kMaxPolled = 1024;  // as live/group.cpp: events of one poll

}  // namespace

void SimulatedPool::welcome(std::uint32_t number) {
  Connection& connection = connections_[number];
  connection.group = number % static_cast<std::uint32_t>(tuple_.pool_size);
  Group& group = groups_[connection.group];
  perform(apply(connection.group, EventKind::kConnectionAdded).spawn, connection.group);
  connection.enqueued_ns = now_ns_;
  group.queue.put(number, Priority::kHigh, tick_ns_ / 1'000);
  perform(apply(connection.group, EventKind::kArrived).spawn, connection.group);
}

void SimulatedPool::receive(std::uint32_t number) {
  Group& group = groups_[connections_[number].group];
  group.ready.push_back(number);
  if (group.listener == kNobody || group.listener_woken) return;
  group.listener_woken = true;
  threads_[group.listener].phase = Phase::kListener;
  schedule(static_cast<TimeNs>(settings_.machine.wake_us * 1e3), group.listener);
}

// The idle time counts from here, however often the thread is woken in vain.
void SimulatedPool::get_event(std::uint32_t number) {
  threads_[number].idle_until_ns = now_ns_ + static_cast<TimeNs>(tuple_.idle_timeout_s * 1e9);
  look_for_work(number);
}

void SimulatedPool::look_for_work(std::uint32_t number) {
  const std::uint32_t index = threads_[number].group;
  Group& group = groups_[index];
  Decision decision = apply(index, EventKind::kWorkerIdle);
  if (decision.self == Self::kPoll) decision = apply(index, EventKind::kPolled, poll(group));
  switch (decision.self) {
    case Self::kTake:
      return serve(number, group.queue.take());
    case Self::kListen:
      return listen(number);
    default:
      return fall_asleep(number);
  }
}

void SimulatedPool::listen(std::uint32_t number) {
  const std::uint32_t index = threads_[number].group;
  Group& group = groups_[index];
  group.listener = kNobody;
  group.listener_woken = false;
  while (!group.ready.empty()) {
    const Decision decision = apply(index, EventKind::kListened, poll(group));
    perform(decision.spawn, index);
    if (decision.self == Self::kTake) return serve(number, group.queue.take());
  }
  group.listener = number;
  threads_[number].phase = Phase::kSleeping;
}

int SimulatedPool::poll(Group& group) {
  int queued = 0;
  while (!group.ready.empty() && queued < kMaxPolled) {
    const std::uint32_t number = group.ready.front();
    group.ready.pop_front();
    Connection& connection = connections_[number];
    connection.enqueued_ns = now_ns_;
    const Priority priority = connection.in_transaction ? Priority::kHigh : Priority::kLow;
    group.queue.put(number, priority, tick_ns_ / 1'000);
    ++queued;
  }
  return queued;
}

void SimulatedPool::fall_asleep(std::uint32_t number) {
  Thread& thread = threads_[number];
  thread.phase = Phase::kSleeping;
  groups_[thread.group].sleepers.push_back(number);
  check_idle_at(thread.idle_until_ns, thread.group);
}

void SimulatedPool::check_idle_at(TimeNs time_ns, std::uint32_t index) {
  Group& group = groups_[index];
  const std::uint32_t event = event_of(EventIs::kIdleCheck, index);
  if (push_first(group.idle_check_ns, time_ns, event)) ++group.idle_checks;
}

void SimulatedPool::expire_sleepers(std::uint32_t index) {
  Group& group = groups_[index];
  --group.idle_checks;
  if (now_ns_ != group.idle_check_ns) return;
  TimeNs next_ns = kNever;
  std::size_t kept = 0;
  for (const std::uint32_t number : group.sleepers) {
    if (threads_[number].idle_until_ns <= now_ns_) {
      apply(index, EventKind::kSleeperLeaves);
      free_threads_.push_back(number);
      --running_threads_;
      continue;
    }
    next_ns = std::min(next_ns, threads_[number].idle_until_ns);
    group.sleepers[kept++] = number;
  }
  group.sleepers.resize(kept);
  group.idle_check_ns = kNever;
  check_idle_at(next_ns, index);
}

void SimulatedPool::perform(Spawn spawn, std::uint32_t index) {
  if (spawn == Spawn::kWake) {
    Group& group = groups_[index];
    const std::uint32_t number = group.sleepers.back();
    group.sleepers.pop_back();
    threads_[number].phase = Phase::kWorker;
    schedule(static_cast<TimeNs>(settings_.machine.wake_us * 1e3), number);
  }
  if (spawn == Spawn::kCreate) {
    const std::uint32_t number = new_thread(index);
    schedule(static_cast<TimeNs>(settings_.machine.create_us * 1e3), number);
    create_us_.record(static_cast<std::uint64_t>(settings_.machine.create_us));
  }
}

std::uint32_t SimulatedPool::new_thread(std::uint32_t group) {
  std::uint32_t number = 0;
  if (free_threads_.empty()) {
    number = static_cast<std::uint32_t>(threads_.size());
    threads_.emplace_back();
  } else {
    number = free_threads_.back();
    free_threads_.pop_back();
    threads_[number] = Thread{};
  }
  ++running_threads_;
  threads_[number].group = group;
  threads_[number].phase = Phase::kCreated;
  return number;
}

void SimulatedPool::arm(std::uint32_t number) {
  Connection& connection = connections_[number];
  const std::uint32_t target = number % static_cast<std::uint32_t>(tuple_.pool_size);
  if (target == connection.group) return;
  apply(connection.group, EventKind::kConnectionRemoved);
  connection.group = target;
  perform(apply(target, EventKind::kConnectionAdded).spawn, target);
}

Decision SimulatedPool::apply(std::uint32_t index, EventKind kind, int n) {
  const Event event{kind, now_ns_ / 1'000, n, running_threads_ >= settings_.max_threads};
  GroupMachine& machine = groups_[index].machine;
  const Decision decision = machine.apply(event);
  if (settings_.record_events) {
    logs_[index].entries.push_back({event, decision, machine.settings()});
  }
  return decision;
}

}  // namespace poolpilot::sim
