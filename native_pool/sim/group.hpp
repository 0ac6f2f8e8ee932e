// A thread group of the simulated pool: a GroupMachine with its queue, poll and sleepers, as
// live/group.cpp.
//
// Owns what is ready for its poll, the queue, and which of its threads listens and which sleep.
// Calls the engine alone.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/group_machine.hpp"
#include "pool/knobs.hpp"
#include "pool/tuple.hpp"
#include "queues/request_queues.hpp"
#include "queues/ring.hpp"
#include "sim/engine.hpp"
#include "sim/parts.hpp"

namespace poolpilot::sim {

class Group {
 public:
  // `tick_us` is the last tick of the timer.
  Group(Engine& engine, std::vector<Connection>& connections, const QueueSettings& queues,
        std::uint32_t number, std::int64_t tick_us)
      : engine_(engine),
        connections_(connections),
        queues_(queues, number),
        number_(number),
        tick_us_(tick_us) {}

  // A new connection: queued before its first request, as a login is.
  void welcome(std::uint32_t connection);
  // Takes over a connection of another group.
  void adopt(std::uint32_t connection);
  // Forgets a connection that is about to move, or a guest whose turn is over.
  void remove() { apply(EventKind::kConnectionRemoved); }
  // One that was parked in its last turn is to be served again, of this group or of another.
  void requeue(std::uint32_t connection);
  // A request of a connection has come.
  void receive(std::uint32_t connection);

  // The connection that a thread serves next; kNobody when it sleeps or listens.
  std::uint32_t next(std::uint32_t thread);
  // The same for a sleeper that has been woken, and for the listener once its poll has found
  // something.
  std::uint32_t awake(std::uint32_t thread);
  std::uint32_t listen(std::uint32_t thread);

  // The turn of a connection that it gave out is over, or has ended with its being parked.
  void served(std::uint32_t connection);

  void wait_begin() { perform(apply(EventKind::kWaitBegin).spawn); }
  void wait_end() { apply(EventKind::kWaitEnd); }

  void expire_sleepers();
  void tick();
  void configure(const PoolTuple& tuple, const PoolKnobs& knobs);
  // Records every event from now on into `log`, which must outlive the group.
  void record(EventLog* log) { machine_.record(log); }

  GroupCounters counters() const { return machine_.counters_at(engine_.now_us()); }
  const GroupState& state() const { return machine_.state(); }
  // Requests that have come and that no thread has taken.
  std::size_t queued() const { return queues_.size() + ready_.size(); }
  // Requests whose queue no rule has named.
  std::int64_t unmapped_requests() const { return queues_.unmapped(); }
  // Checks of its sleepers that are to come.
  std::size_t idle_checks() const { return idle_checks_; }

 private:
  using Queues = RequestQueues<std::uint32_t>;

  int poll(std::uint32_t thread);
  std::int64_t queue_clock_us() const;
  std::uint32_t take();
  void fall_asleep(std::uint32_t thread);
  void check_idle_at(TimeNs time_ns);
  void call(std::uint32_t thread, Phase phase);
  void perform(Spawn spawn);
  Decision apply(EventKind kind, int n = 0);

  Engine& engine_;
  std::vector<Connection>& connections_;
  GroupMachine machine_;
  Queues queues_;
  Ring<std::uint32_t> ready_;            // connections that the next poll finds
  std::vector<std::uint32_t> sleepers_;  // the last fell asleep last
  std::uint32_t number_;
  std::uint32_t listener_ = kNobody;  // the thread blocked in the poll
  bool listener_called_ = false;
  std::int64_t tick_us_;  // the last tick, with which MariaDB stamps its queue
  std::size_t idle_checks_ = 0;
  TimeNs idle_check_ns_ = kNever;  // the first that counts
};

}  // namespace poolpilot::sim
