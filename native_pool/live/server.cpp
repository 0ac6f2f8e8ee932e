#include "live/server.hpp"

#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "live/connection_home.hpp"
#include "live/handlers/hybrid.hpp"
#include "live/handlers/per_connection.hpp"
#include "live/pool_of_threads.hpp"
#include "system/clock.hpp"
#include "system/processors.hpp"

namespace poolpilot {
namespace {

[[noreturn]] void throw_closed() { throw std::logic_error("the pool is closed: make a new one"); }

[[noreturn]] void throw_of_another_process() {
  throw std::logic_error("the pool serves in the process that was forked: make a new one");
}

}  // namespace

LivePool::LivePool(const LivePoolSettings& settings)
    : settings_(settings),
      executor_(settings.executor, stopping_),
      gate_(settings.knobs.admission, settings.cpus),
      requests_(executor_, gate_),
      registry_(settings.cpus, settings.class_names.size()),
      tuple_(settings.tuple),
      knobs_(settings.knobs) {
  check(settings_);
  handler_ = make_handler();
}

LivePool::~LivePool() { close(); }

void DestroyOwnPool::operator()(LivePool* pool) const {
  if (!pool->is_of_another_process()) delete pool;
}

bool LivePool::is_of_another_process() const {
  const pid_t started_by = started_by_.load(std::memory_order_relaxed);
  return started_by != 0 && started_by != getpid();
}

std::unique_ptr<ConnectionHandler> LivePool::make_handler() {
  HandlerHost& host = *this;
  switch (settings_.handling.handler) {
    case HandlerKind::kPerConnection:
      return std::make_unique<PerConnection>(settings_, host, registry_);
    case HandlerKind::kHybrid:
      return std::make_unique<Hybrid>(settings_, host, registry_);
    case HandlerKind::kPool:
      break;
  }
  return std::make_unique<PoolOfThreads>(settings_, host, registry_, logs_);
}

void LivePool::start() {
  if (is_of_another_process()) throw_of_another_process();
  const std::unique_lock lock(lifecycle_mutex_);
  if (phase_ == Phase::kServing) {
    throw std::logic_error("the pool serves already: a pool starts once");
  }
  if (phase_ == Phase::kClosed) throw_closed();
  started_by_.store(getpid(), std::memory_order_relaxed);
  try {
    open_all();
    phase_ = Phase::kServing;
  } catch (...) {
    tear_down();
    throw;
  }
}

void LivePool::open_all() {
  acceptor_ = std::make_unique<Acceptor>(settings_.address, stopping_);
  handler_->start();
  gate_.start();
  acceptor_->start(settings_.cpus, [this](int socket) { welcome(socket); });
}

void LivePool::close() {
  // To wake the threads and to end the sockets would be to do so in the process that has them.
  if (is_of_another_process()) return;
  // Before the mutex: calls that come from now on are turned away, so that they cannot keep it.
  stopping_.store(true, std::memory_order_relaxed);
  const std::unique_lock lock(lifecycle_mutex_);
  tear_down();
}

// Undoes as much as open_all() has done.
void LivePool::tear_down() {
  if (phase_ == Phase::kClosed) return;
  stopping_.store(true, std::memory_order_relaxed);
  if (acceptor_) acceptor_->stop();
  executor_.stop();
  gate_.stop();
  handler_->stop();
  registry_.join_all();
  for (auto& [id, connection] : connections_) {
    requests_.cancel(*connection);
    ::close(connection->fd);
  }
  connections_.clear();
  // Now that there are descriptors again for those who wait there.
  if (acceptor_) acceptor_->empty_backlog([this](int socket) { turn_away(socket); });
  if (phase_ == Phase::kServing) last_snapshot_ = count();
  handler_.reset();
  acceptor_.reset();
  phase_ = Phase::kClosed;
}

std::shared_lock<std::shared_mutex> LivePool::while_serving() const {
  if (stopping_.load(std::memory_order_relaxed)) throw_closed();
  if (is_of_another_process()) throw_of_another_process();
  std::shared_lock lock(lifecycle_mutex_);
  if (phase_ == Phase::kNew) {
    throw std::logic_error("the pool does not serve yet: start it first");
  }
  if (phase_ == Phase::kClosed) throw_closed();
  return lock;
}

std::string LivePool::address() const {
  const auto serving = while_serving();
  return acceptor_->address();
}

PoolTuple LivePool::tuple() const {
  const auto serving = while_serving();
  const std::lock_guard lock(tuple_mutex_);
  return tuple_;
}

PoolTuple LivePool::set_tuple(const PoolTuple& tuple) {
  check(tuple, settings_.max_pool_size);
  const auto serving = while_serving();
  const std::lock_guard lock(tuple_mutex_);
  handler_->configure(tuple, knobs_);
  tuple_ = tuple;
  ++tuple_epoch_;
  return tuple;
}

PoolKnobs LivePool::knobs() const {
  const auto serving = while_serving();
  const std::lock_guard lock(tuple_mutex_);
  return knobs_;
}

PoolKnobs LivePool::set_knobs(const PoolKnobs& knobs) {
  check_knobs(settings_, knobs);
  const auto serving = while_serving();
  const std::lock_guard lock(tuple_mutex_);
  // First what the system may refuse: all knobs change, or none.
  if (knobs.admission != knobs_.admission) gate_.configure(knobs.admission);
  handler_->configure(tuple_, knobs);
  knobs_ = knobs;
  ++tuple_epoch_;
  return knobs;
}

const std::vector<EventLog>& LivePool::event_logs() const {
  const std::shared_lock lock(lifecycle_mutex_);
  if (phase_ != Phase::kClosed) {
    throw std::logic_error("the pool still records its events: close it first");
  }
  return logs_;
}

void LivePool::serve(Connection& connection, WorkerStats& stats) {
  const TurnEnd turn_end = requests_.turn(connection, stats);
  if (turn_end == TurnEnd::kParked) return;
  if (turn_end != TurnEnd::kOver) return drop(connection);
  if (!handler_->rearm(connection)) end(connection, Ending::kUnarmed);
}

void LivePool::end(Connection& connection, Ending why) {
  switch (why) {
    case Ending::kHungUp:
      connection.client_gone = true;
      hang_ups_.fetch_add(1, std::memory_order_relaxed);
      break;
    case Ending::kUnarmed:
      unarmed_connections_.fetch_add(1, std::memory_order_relaxed);
      break;
  }
  drop(connection);
}

void LivePool::drop(Connection& connection) {
  connection.home->remove(connection);
  executor_.abandon(connection);
  gate_.leave(connection, nullptr);
  close_socket(connection);
}

void LivePool::close_socket(Connection& connection) {
  requests_.cancel(connection);
  ::close(connection.fd);
  const std::lock_guard lock(connections_mutex_);
  connections_.erase(connection.id);
}

void LivePool::welcome(int socket) {
  Connection* connection = nullptr;
  {
    const std::lock_guard lock(connections_mutex_);
    if (connections_.size() < static_cast<std::size_t>(settings_.max_connections)) {
      const std::uint64_t id = next_connection_++;
      auto& slot = connections_[id];
      slot = std::make_unique<Connection>(socket, id);
      connection = slot.get();
    }
  }
  if (connection == nullptr) {
    refused_connections_.fetch_add(1, std::memory_order_relaxed);
    turn_away(socket);
    return;
  }
  if (handler_->welcome(*connection)) return;
  unserved_connections_.fetch_add(1, std::memory_order_relaxed);
  close_socket(*connection);
}

void LivePool::turn_away(int socket) {
  requests_.cancel(socket);
  ::close(socket);
}

PoolSnapshot LivePool::snapshot() const {
  const auto serving = while_serving();
  return count();
}

PoolSnapshot LivePool::last_snapshot() const {
  const std::shared_lock lock(lifecycle_mutex_);
  if (phase_ != Phase::kClosed) {
    throw std::logic_error("the pool still counts: close it first");
  }
  return last_snapshot_.value_or(PoolSnapshot());
}

PoolSnapshot LivePool::count() const {
  PoolSnapshot snapshot;
  {
    const std::lock_guard lock(tuple_mutex_);
    snapshot.tuple = tuple_;
    snapshot.tuple_epoch = tuple_epoch_;
  }
  WorkerTotals workers = registry_.totals();
  put_hand_overs(snapshot, 0, 0);
  handler_->add_counts(snapshot, workers);
  add_worker_counts(snapshot, std::move(workers));
  add_connection_counts(snapshot);
  requests_.add_counts(snapshot);
  gate_.add_counts(snapshot);
  acceptor_->add_counts(snapshot);
  snapshot.gauges["cpus"] = processors(settings_.cpus);
  snapshot.time_s = static_cast<double>(now_ns()) / 1e9;
  return snapshot;
}

void LivePool::add_worker_counts(PoolSnapshot& snapshot, WorkerTotals totals) const {
  put_worker_counts(snapshot, totals.counters);
  if (settings_.executor.instrument) {
    put_timings(snapshot, std::move(totals.timings), settings_.class_names);
  }
  snapshot.histograms["thread_create_us"] = std::move(totals.create_us);
  snapshot.counters["process_cpu_us"] = static_cast<double>(totals.cpu_ns) / 1e3;
}

void LivePool::add_connection_counts(PoolSnapshot& snapshot) const {
  {
    const std::lock_guard lock(connections_mutex_);
    snapshot.gauges["connections"] = static_cast<double>(connections_.size());
  }
  snapshot.counters["refused_connections"] = static_cast<double>(refused_connections_.load());
  snapshot.counters["unserved_connections"] = static_cast<double>(unserved_connections_.load());
  snapshot.counters["unarmed_connections"] = static_cast<double>(unarmed_connections_.load());
  snapshot.counters["hang_ups"] = static_cast<double>(hang_ups_.load());
}

}  // namespace poolpilot
