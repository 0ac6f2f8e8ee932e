#include "sim/handlers/per_connection.hpp"

#include <utility>

namespace poolpilot::sim {

void PerConnection::welcome(std::uint32_t number) {
  threads_.add(1, engine_.now_us());
  engine_.start_thread(number);
}

void PerConnection::receive(std::uint32_t number) {
  Own& own = own_[number];
  own.asked = true;
  ++unserved_;
  if (own.sleeper == kNobody) return;
  const std::uint32_t thread = std::exchange(own.sleeper, kNobody);
  engine_.thread(thread).phase = Phase::kWorker;
  engine_.schedule(static_cast<TimeNs>(engine_.machine().wake_us * 1e3), thread);
}

std::uint32_t PerConnection::next(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  Own& own = own_[thread.group];
  Connection& connection = connections_[thread.group];
  if (!connection.fresh && !own.asked) {
    thread.phase = Phase::kSleeping;
    own.sleeper = number;
    return kNobody;
  }
  if (!connection.fresh) {
    own.asked = false;
    --unserved_;
  }
  connection.enqueued_ns = engine_.now_ns();
  active_.add(1, engine_.now_us());
  return thread.group;
}

void PerConnection::add_counts(GroupCounters& counters, GroupState& state) const {
  counters.thread_creations += threads_.count();
  counters.thread_us += threads_.integral_us(engine_.now_us());
  counters.active_thread_us += active_.integral_us(engine_.now_us());
  state.thread_count += threads_.count();
  state.active_count += active_.count();
}

}  // namespace poolpilot::sim
