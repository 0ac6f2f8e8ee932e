#include "live/group.hpp"

#include <sys/socket.h>

#include <array>
#include <cassert>
#include <chrono>
#include <span>
#include <tuple>
#include <utility>

#include "live/client_socket.hpp"
#include "system/clock.hpp"

namespace poolpilot {
namespace {

// Whoever's poll has found a connection ready may look at its socket and its buffer without the
// group's mutex: nobody else serves it, and a tick touches neither but to shut the socket.
void peek_classes(std::span<const epoll_event> ready, std::span<int> classes) {
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const auto* connection = static_cast<const Connection*>(ready[i].data.ptr);
    classes[i] = connection == nullptr ? kAnyClass : peek_class(*connection);
  }
}

}  // namespace

void Group::open() {
  const std::lock_guard lock(mutex_);
  if (poll_.is_open()) return;
  poll_.open();
  connections_.tick(now_ns() / 1'000);  // the timer begins now
}

void Group::welcome(Connection& connection) {
  const Lock lock(mutex_);
  add(connection);
  connection.enqueued_ns = now_ns();
  queues_.put_urgent(&connection, queue_clock_us(connection.enqueued_ns));
  perform(apply(EventKind::kArrived).spawn);
}

bool Group::adopt(Connection& connection) {
  const Lock lock(mutex_);
  add(connection);
  return watch(connection);
}

void Group::add(Connection& connection) {
  connection.home = this;
  connections_.add(connection);
  perform(apply(EventKind::kConnectionAdded).spawn);
}

void Group::remove(Connection& connection) {
  const Lock lock(mutex_);
  poll_.forget(connection);
  connections_.remove(connection);
  apply(EventKind::kConnectionRemoved);
}

void Group::requeue(Connection& connection) {
  const Lock lock(mutex_);
  if (connection.home != this) perform(apply(EventKind::kConnectionAdded).spawn);
  queues_.put_again(&connection, connection.queue, queue_clock_us(now_ns()));
  perform(apply(EventKind::kArrived).spawn);
}

bool Group::arm(Connection& connection) {
  // Under the mutex, or the next worker could close the socket while epoll_ctl still returns.
  const Lock lock(mutex_);
  return watch(connection);
}

bool Group::watch(Connection& connection) {
  if (!poll_.watch(connection)) return false;
  // As in MariaDB: by the clock of the last tick, which is at most an interval behind.
  const std::int64_t interval_us = std::int64_t{machine_.settings().timer_interval_ms} * 1'000;
  connections_.arm(connection, interval_us + host_.wait_timeout_us());
  return true;
}

void Group::work(WorkerStats& stats) {
  Lock lock(mutex_);
  for (Queues::Taken taken = next(lock); taken.item != nullptr; taken = next(lock)) {
    serve(taken, lock, stats);
  }
}

// The clock is read only for a discipline that counts time.
void Group::serve(const Queues::Taken& taken, Lock& lock, WorkerStats& stats) {
  const bool counts = queues_.counts_time();
  lock.unlock();
  const bool is_guest = taken.item->home != this;
  taken.item->host = this;
  const std::int64_t begin_ns = counts ? now_ns() : 0;
  host_.serve(*taken.item, stats);
  const double served_us = counts ? static_cast<double>(now_ns() - begin_ns) / 1e3 : 0.0;
  lock.lock();
  if (is_guest) apply(EventKind::kConnectionRemoved);
  if (counts) queues_.serve(taken, served_us);
}

Group::Queues::Taken Group::take() {
  if (queues_.ages_between_ticks()) queues_.age(now_ns() / 1'000);
  const Queues::Taken taken = queues_.take();
  taken.item->queue = taken.queue;
  return taken;
}

Group::Queues::Taken Group::next(Lock& lock) {
  // Once, as for a get_event of MariaDB: a thread that is woken in vain sleeps no longer for it.
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(host_.idle_timeout_s()));
  while (!stopping_) {
    Connection* gone = nullptr;
    Decision decision = apply(EventKind::kWorkerIdle);
    if (decision.self == Self::kPoll) {
      const int queued = poll(0, nullptr, gone);
      if (queued == 0 && gone != nullptr) {
        hang_up(gone, lock);
        continue;  // what has come meanwhile must not find this thread asleep
      }
      decision = apply(EventKind::kPolled, queued);
    }
    switch (decision.self) {
      case Self::kTake: {
        const Queues::Taken taken = take();
        hang_up(gone, lock);
        return taken;
      }
      case Self::kListen:
        return listen(lock);
      default:
        if (!sleep(lock, deadline)) return {};
    }
  }
  return {};
}

Group::Queues::Taken Group::listen(Lock& lock) {
  while (!stopping_) {
    Connection* gone = nullptr;
    Queues::Taken taken{};
    const int arrived = poll(-1, &lock, gone);
    if (arrived > 0) {
      const Decision decision = apply(EventKind::kListened, arrived);
      perform(decision.spawn);
      if (decision.self == Self::kTake) taken = take();
    }
    hang_up(gone, lock);
    if (taken.item != nullptr) return taken;
  }
  return {};
}

// Returns how many it has queued; those whose clients are gone are listed in `gone`.
int Group::poll(int timeout_ms, Lock* unlock_while_waiting, Connection*& gone) {
  ConnectionPoll::Events events;
  if (unlock_while_waiting != nullptr) unlock_while_waiting->unlock();
  const std::span<const epoll_event> ready = poll_.wait(events, timeout_ms);
  const bool peeks = queues_.class_known() == ClassKnown::kPeeked;
  std::array<int, std::tuple_size_v<ConnectionPoll::Events>> classes;
  if (peeks) {
    // What a connection's last turn has left in its buffer is seen through the mutex that it was
    // armed under; the look itself is a system call, and others may have the mutex meanwhile.
    if (unlock_while_waiting != nullptr) {
      unlock_while_waiting->lock();
      unlock_while_waiting->unlock();
    }
    peek_classes(ready, classes);
  }
  if (unlock_while_waiting != nullptr) unlock_while_waiting->lock();
  if (stopping_) return 0;
  const std::int64_t arrival_ns = now_ns();
  const bool at_once = host_.hangs_up_at_once();
  int queued = 0;
  const std::int64_t clock_us = queue_clock_us(arrival_ns);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    auto* connection = static_cast<Connection*>(ready[i].data.ptr);
    if (connection == nullptr) continue;
    SilentConnections::disarm(*connection);
    if (at_once && !connection->timed_out && has_hung_up(connection->fd, ready[i].events)) {
      connection->next_gone = std::exchange(gone, connection);
      continue;
    }
    connection->enqueued_ns = arrival_ns;
    if (connection->timed_out) {
      queues_.put_urgent(connection, clock_us);
    } else {
      queues_.put(connection, *connection, peeks ? classes[i] : kAnyClass, clock_us);
    }
    ++queued;
  }
  return queued;
}

// MariaDB stamps what it queues with the time of the last tick.
std::int64_t Group::queue_clock_us(std::int64_t now_ns) const {
  return queues_.by_ticks() ? connections_.tick_us() : now_ns / 1'000;
}

void Group::hang_up(Connection* gone, Lock& lock) {
  if (gone == nullptr) return;
  lock.unlock();
  while (gone != nullptr) host_.hang_up(*std::exchange(gone, gone->next_gone));
  lock.lock();
}

bool Group::sleep(Lock& lock, Clock::time_point deadline) {
  Sleeper self;
  sleepers_.push_back(&self);
  assert(all_sleepers_counted());
  self.called.wait_until(lock, deadline, [&self] { return self.call != Call::kNone; });
  if (self.call == Call::kWake) {
    apply(EventKind::kAwake);
    return true;
  }
  if (self.call == Call::kNone) {
    std::erase(sleepers_, &self);
    apply(EventKind::kSleeperLeaves);
    assert(all_sleepers_counted());
  }
  return false;
}

void Group::call_last(Call call) {
  Sleeper* sleeper = sleepers_.back();
  sleepers_.pop_back();
  assert(all_sleepers_counted());
  sleeper->call = call;
  sleeper->called.notify_one();
}

bool Group::all_sleepers_counted() const {
  return sleepers_.size() == static_cast<std::size_t>(machine_.state().sleeping_count);
}

void Group::tick(std::int64_t now_us) {
  const Lock lock(mutex_);
  if (stopping_) return;
  connections_.tick(now_us);
  if (machine_.state().connection_count == 0 && queues_.empty()) return;
  queues_.age(now_us);
  perform(apply(EventKind::kTick).spawn);
}

void Group::configure(const PoolTuple& tuple, const PoolKnobs& knobs) {
  const Lock lock(mutex_);
  machine_.configure(group_settings(tuple, knobs));
  queues_.set_kick_up_ms(knobs.prio_kickup_ms);
  queues_.set_weights(knobs.weights);
}

void Group::stop() {
  const Lock lock(mutex_);
  stopping_ = true;
  while (!sleepers_.empty()) {
    apply(EventKind::kSleeperLeaves);
    call_last(Call::kLeave);
  }
  poll_.interrupt();
}

void Group::wait_begin(WaitKind) {
  const Lock lock(mutex_);
  perform(apply(EventKind::kWaitBegin).spawn);
}

void Group::wait_end(WaitKind) {
  const Lock lock(mutex_);
  apply(EventKind::kWaitEnd);
}

Decision Group::apply(EventKind kind, int n) {
  return machine_.apply({kind, now_ns() / 1'000, n, host_.pool_full()});
}

void Group::perform(Spawn spawn) {
  if (spawn == Spawn::kWake) call_last(Call::kWake);
  if (spawn == Spawn::kCreate && (stopping_ || !host_.start_worker(*this))) {
    apply(EventKind::kCreateFailed);
  }
}

GroupState Group::state() const {
  const Lock lock(mutex_);
  return machine_.state();
}

GroupCounters Group::counters() const {
  const Lock lock(mutex_);
  return machine_.counters_at(now_ns() / 1'000);
}

std::int64_t Group::unmapped_requests() const {
  const Lock lock(mutex_);
  return queues_.unmapped();
}

void Group::record(EventLog* log) {
  const Lock lock(mutex_);
  machine_.record(log);
}

}  // namespace poolpilot
