#include "sim/thread_groups.hpp"

#include "pool/snapshot.hpp"

namespace poolpilot::sim {

ThreadGroups::ThreadGroups(Engine& engine, std::vector<Connection>& connections,
                           const SimulationSettings& settings)
    : engine_(engine), connections_(connections), settings_(settings) {
  configure(settings.tuple, settings.knobs);
}

void ThreadGroups::configure(const PoolTuple& tuple, const PoolKnobs& knobs) {
  tuple_ = tuple;
  while (groups_.size() < static_cast<std::size_t>(tuple.pool_size)) {
    const auto number = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back(engine_, connections_, settings_.queues, number, tick_us_);
    if (settings_.record_events) groups_.back().record(&logs_.emplace_back());
  }
  for (Group& group : groups_) group.configure(tuple, knobs);
}

std::uint32_t ThreadGroups::home_of(std::uint32_t connection) const {
  return connection % static_cast<std::uint32_t>(tuple_.pool_size);
}

void ThreadGroups::welcome(std::uint32_t number) { groups_[home_of(number)].welcome(number); }

void ThreadGroups::rearm(std::uint32_t number, std::uint32_t) {
  const std::uint32_t group = connections_[number].group;
  const std::uint32_t home = home_of(number);
  Group& host = groups_[connections_[number].taken_by];
  host.served(number);
  if (connections_[number].taken_by != group) host.remove();
  if (home == group) return;
  groups_[group].remove();
  groups_[home].adopt(number);
}

// The idle time counts from here, however often the thread is woken in vain.
std::uint32_t ThreadGroups::next(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  thread.idle_until_ns = engine_.now_ns() + static_cast<TimeNs>(tuple_.idle_timeout_s * 1e9);
  return groups_[thread.group].next(number);
}

std::uint32_t ThreadGroups::resume(std::uint32_t number) {
  switch (engine_.thread(number).phase) {
    case Phase::kWorker:
      return group_of(number).awake(number);
    case Phase::kListener:
      return group_of(number).listen(number);
    default:
      return next(number);
  }
}

void ThreadGroups::tick() {
  tick_us_ = engine_.now_us();
  for (Group& group : groups_) group.tick();
}

void ThreadGroups::add_counts(GroupCounters& counters, GroupState& state) const {
  for (const Group& group : groups_) {
    add(counters, group.counters());
    add(state, group.state());
  }
}

std::int64_t ThreadGroups::unmapped_requests() const {
  std::int64_t sum = 0;
  for (const Group& group : groups_) sum += group.unmapped_requests();
  return sum;
}

std::size_t ThreadGroups::queued() const {
  std::size_t sum = 0;
  for (const Group& group : groups_) sum += group.queued();
  return sum;
}

std::size_t ThreadGroups::idle_checks() const {
  std::size_t sum = 0;
  for (const Group& group : groups_) sum += group.idle_checks();
  return sum;
}

}  // namespace poolpilot::sim
