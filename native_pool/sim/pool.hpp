// The simulated pool: the live server's state machine and step programs in virtual time.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "policy/group_machine.hpp"
#include "pool/snapshot.hpp"
#include "pool/worker_stats.hpp"
#include "sim/client.hpp"
#include "sim/event_heap.hpp"
#include "sim/parts.hpp"
#include "sim/processors.hpp"
#include "sim/settings.hpp"
#include "sim/station.hpp"

namespace poolpilot::sim {

// Nothing can happen any more, and requests are unanswered; the text names threads and latches.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where a run ends: at the first of them.
struct RunLimits {
  double until_s = 1e9;                     // virtual time
  std::int64_t until_answered = INT64_MAX;  // requests answered since the beginning, but
  double at_least_until_s = 0.0;            // not before this time
  std::int64_t events = INT64_MAX;          // that happen in this run
  const std::atomic<bool>* stop = nullptr;  // set by another thread
};

// One thread runs it; different pools may run in different threads. Time is virtual and begins at
// 0.
class SimulatedPool {
 public:
  // Throws std::invalid_argument when a setting is outside its range.
  explicit SimulatedPool(const SimulationSettings& settings);

  // Runs up to a limit; true when it was the time or the requests. Throws Deadlock.
  bool run(const RunLimits& limits);

  // Throws std::invalid_argument outside the ranges; the old tuple then stays.
  PoolTuple set_tuple(const PoolTuple& tuple);
  PoolTuple tuple() const { return tuple_; }

  PoolSnapshot snapshot() const;
  double now_s() const { return static_cast<double>(now_ns_) / 1e9; }
  std::int64_t events() const { return events_done_; }
  std::int64_t sent() const { return client_.sent(); }
  std::int64_t answered() const { return counters_.completed.value() + counters_.failed.value(); }
  // Threads created and woken because of a stall.
  std::int64_t thread_changes() const;
  std::int64_t in_flight() const { return sent() - answered(); }
  const std::vector<EventLog>& event_logs() const { return logs_; }

 private:
  // pool.cpp: time, tuple, snapshot.
  void happen(std::uint32_t what);
  void thread_event(std::uint32_t thread);
  void burst_over(std::uint32_t thread);
  void queue_at_client(std::uint32_t connection);
  void client_has_worked();
  void tick(std::uint32_t epoch);
  void arm_timer();
  void detect_standstill();
  GroupSettings group_settings() const;
  void open_groups(int count);

  // pool_threads.cpp: what a group does with its threads, as live/group.cpp.
  void welcome(std::uint32_t connection);
  void receive(std::uint32_t connection);
  void get_event(std::uint32_t thread);
  void look_for_work(std::uint32_t thread);
  void listen(std::uint32_t thread);
  int poll(Group& group);
  void fall_asleep(std::uint32_t thread);
  void expire_sleepers(std::uint32_t group);
  void check_idle_at(TimeNs time_ns, std::uint32_t group);
  void perform(Spawn spawn, std::uint32_t group);
  void arm(std::uint32_t connection);
  Decision apply(std::uint32_t group, EventKind kind, int n = 0);
  std::uint32_t new_thread(std::uint32_t group);

  // pool_requests.cpp: what a thread does with a request, as live/executor.cpp.
  void serve(std::uint32_t thread, std::uint32_t connection);
  void go_on(std::uint32_t thread);
  bool do_step(std::uint32_t thread, const ProgramStep& step);
  bool wait(std::uint32_t thread, const ProgramStep& step);
  bool commit(std::uint32_t thread);
  void flush();
  void flushed();
  void finish(std::uint32_t thread, bool ok);
  void burst(std::uint32_t thread, double cpu_ns, Phase phase = Phase::kRunning);
  double in_pieces(double cpu_ns) const;
  void wake(std::uint32_t thread);
  void block(std::uint32_t thread, bool reported);
  void unblock(std::uint32_t thread);
  void end_burst(std::uint32_t thread);
  void begin_round(Thread& thread) const;
  void end_round(Thread& thread);
  std::int64_t involuntary_switches(std::uint32_t thread) const;

  // pool_latches.cpp: who has a latch, who spins and who sleeps for it, as live/latch.cpp.
  bool acquire(std::uint32_t thread, const ProgramStep& step);
  void take_latch(std::uint32_t thread);
  void end_latch_wait(std::uint32_t thread);
  void spin(std::uint32_t thread, double spin_ns);
  void spun(std::uint32_t thread);
  void sleep_at_tail(std::uint32_t thread);
  void sleep_for_latch(std::uint32_t thread);
  void try_again(std::uint32_t thread);
  bool push_first(TimeNs& first_ns, TimeNs time_ns, std::uint32_t event);
  void expire_latch_waits(std::uint32_t latch);
  TimeNs latch_deadline_ns(const Thread& thread) const;
  void release(std::uint32_t connection, std::uint8_t latch);
  void hand_to_spinner(Latch& latch);
  void abandon(std::uint32_t connection);
  void check_cycle(std::uint32_t thread) const;
  bool sleeps_for_latch(std::uint32_t thread) const;
  std::string waits_text() const;

  const ProgramStep& step_under_way(const Thread& thread) const;
  void schedule(TimeNs delay_ns, std::uint32_t thread);

  const SimulationSettings settings_;
  PoolTuple tuple_;
  std::uint32_t tuple_epoch_ = 0;
  std::uint32_t timer_epoch_ = 0;  // changes of the timer's interval
  TimeNs now_ns_ = 0;
  std::int64_t events_done_ = 0;
  EventHeap events_;
  Processors cpu_;
  Client client_;
  Ring<std::uint32_t> to_send_;  // connections whose request the generator has yet to send
  bool client_awake_ = false;
  std::vector<Connection> connections_;
  std::vector<Group> groups_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> free_threads_;
  int running_threads_ = 0;
  std::array<Latch, kLatches> latches_;
  std::vector<Station> disks_;
  Random disk_random_;
  std::vector<std::uint32_t> committing_;  // threads of the flush under way
  std::vector<std::uint32_t> committed_;   // those of the flush that ends
  std::vector<std::uint32_t> next_flush_;
  bool flushing_ = false;
  TimeNs tick_ns_ = 0;  // the last tick: MariaDB stamps its queue with it
  int idle_ticks_ = 0;  // ticks in a row after which nothing but the timer was left
  WorkerCounters counters_;
  TimingSums timings_;
  Histogram create_us_;
  std::vector<std::string> class_names_;
  std::vector<EventLog> logs_;
};

}  // namespace poolpilot::sim
