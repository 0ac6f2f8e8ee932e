#include "live/server.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "live/pool_of_threads.hpp"
#include "system/clock.hpp"
#include "system/start_thread.hpp"

namespace poolpilot {
namespace {

constexpr int kShortagePauseMs = 10;

[[noreturn]] void throw_closed() { throw std::logic_error("the pool is closed: make a new one"); }

}  // namespace

LivePool::LivePool(const LivePoolSettings& settings)
    : settings_(settings),
      executor_(settings.executor, stopping_),
      registry_(settings.cpus, settings.class_names.size()),
      tuple_(settings.tuple) {
  check(settings_);
  HandlerHost& host = *this;
  handler_ = std::make_unique<PoolOfThreads>(settings_, host, registry_, logs_);
}

LivePool::~LivePool() { close(); }

void LivePool::start() {
  const std::unique_lock lock(lifecycle_mutex_);
  if (phase_ == Phase::kServing) {
    throw std::logic_error("the pool serves already: a pool starts once");
  }
  if (phase_ == Phase::kClosed) throw_closed();
  try {
    open_all();
    phase_ = Phase::kServing;
  } catch (...) {
    tear_down();
    throw;
  }
}

void LivePool::open_all() {
  listening_ = std::make_unique<ListeningSocket>(settings_.address);
  accept_stop_ = Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!accept_stop_.valid()) {
    throw std::system_error(errno, std::generic_category(), "cannot create the acceptor's event");
  }
  handler_->start();
  acceptor_ = start_thread("the acceptor", [this] { accept_loop(); });
}

void LivePool::close() {
  // Before the mutex: calls that come from now on are turned away, so that they cannot keep it.
  stopping_.store(true, std::memory_order_relaxed);
  const std::unique_lock lock(lifecycle_mutex_);
  tear_down();
}

// Undoes as much as open_all() has done.
void LivePool::tear_down() {
  if (phase_ == Phase::kClosed) return;
  stopping_.store(true, std::memory_order_relaxed);
  if (accept_stop_.valid()) eventfd_write(accept_stop_.get(), 1);
  if (acceptor_.joinable()) acceptor_.join();
  executor_.stop();
  handler_->stop();
  registry_.join_all();
  for (auto& [id, connection] : connections_) ::close(connection->fd);
  connections_.clear();
  handler_.reset();
  listening_.reset();
  accept_stop_ = Descriptor();
  phase_ = Phase::kClosed;
}

std::shared_lock<std::shared_mutex> LivePool::while_serving() const {
  if (stopping_.load(std::memory_order_relaxed)) throw_closed();
  std::shared_lock lock(lifecycle_mutex_);
  if (phase_ == Phase::kNew) {
    throw std::logic_error("the pool does not serve yet: start it first");
  }
  if (phase_ == Phase::kClosed) throw_closed();
  return lock;
}

std::string LivePool::address() const {
  const auto serving = while_serving();
  return listening_->address();
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
  handler_->configure(tuple);
  tuple_ = tuple;
  ++tuple_epoch_;
  return tuple;
}

const std::vector<EventLog>& LivePool::event_logs() const {
  const std::shared_lock lock(lifecycle_mutex_);
  if (phase_ != Phase::kClosed) {
    throw std::logic_error("the pool still records its events: close it first");
  }
  return logs_;
}

void LivePool::serve(Connection& connection, WorkerStats& stats) {
  if (!turn(connection, stats)) return drop(connection);
  if (handler_->rearm(connection)) return;
  unarmed_connections_.fetch_add(1, std::memory_order_relaxed);
  drop(connection);
}

bool LivePool::turn(Connection& connection, WorkerStats& stats) {
  if (connection.fresh) {
    connection.fresh = false;
    return true;
  }
  if (connection.timed_out) {
    timed_out_connections_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  try {
    return receive(connection) && answer_frames(connection, stats);
  } catch (const ProtocolError&) {
    protocol_errors_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
}

bool LivePool::receive(Connection& connection) {
  const ssize_t got = recv(connection.fd, connection.buffer.data() + connection.buffered,
                           connection.buffer.size() - connection.buffered, 0);
  if (got > 0) connection.buffered += static_cast<std::size_t>(got);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool LivePool::answer_frames(Connection& connection, WorkerStats& stats) {
  std::size_t used = 0;
  bool alive = true;
  while (alive) {
    const std::span<const std::byte> rest(connection.buffer.data() + used,
                                          connection.buffered - used);
    const std::size_t frame = decode_request(rest, connection.request);
    if (frame == 0) break;
    const std::int64_t start_ns = now_ns();
    if (used == 0) record_arrival(connection, stats, start_ns);
    used += frame;
    alive = answer(connection, stats, start_ns);
  }
  connection.buffered -= used;
  std::memmove(connection.buffer.data(), connection.buffer.data() + used, connection.buffered);
  return alive;
}

// Only for the first request of a turn: those sent together with it were taken off the queue with
// it, and their client did not think in between.
void LivePool::record_arrival(const Connection& connection, WorkerStats& stats,
                              std::int64_t start_ns) const {
  if (!settings_.executor.instrument) return;
  stats.record(Timing::kQueueWait,
               static_cast<std::uint64_t>((start_ns - connection.enqueued_ns) / 1'000));
  if (connection.last_response_ns == 0) return;
  stats.record(
      Timing::kThink,
      static_cast<std::uint64_t>(
          std::max<std::int64_t>(connection.enqueued_ns - connection.last_response_ns, 0) / 1'000));
}

bool LivePool::answer(Connection& connection, WorkerStats& stats, std::int64_t start_ns) {
  const RequestHeader header = connection.request.header;
  const Status status = executor_.run(connection, *connection.home, stats, start_ns);
  if (settings_.executor.instrument) {
    const auto sent_ns = static_cast<std::int64_t>(header.sent_ns);
    const bool trusted = sent_ns > 0 && sent_ns <= connection.last_response_ns;
    const std::int64_t since_ns = trusted ? sent_ns : connection.enqueued_ns;
    stats.record(latency_of(header.class_id),
                 static_cast<std::uint64_t>((connection.last_response_ns - since_ns) / 1'000));
  }
  (status == Status::kOk ? stats.counters.completed : stats.counters.failed).add();
  std::array<std::byte, kResponseBytes> response;
  encode_response({status, header.class_id, header.request_id}, response);
  const ssize_t sent = send(connection.fd, response.data(), response.size(), MSG_NOSIGNAL);
  if (std::cmp_equal(sent, response.size())) return true;
  // A full socket buffer means thousands of answers unread, on a Unix socket hundreds where the
  // system's wmem_max is small: that client must not hold a worker.
  if (sent >= 0 || errno == EAGAIN) slow_readers_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void LivePool::drop(Connection& connection) {
  connection.home->remove(connection);
  executor_.abandon(connection);
  ::close(connection.fd);
  const std::lock_guard lock(connections_mutex_);
  connections_.erase(connection.id);
}

void LivePool::accept_loop() {
  pin_this_thread(settings_.cpus);
  using Accepted = ListeningSocket::Accepted;
  std::array<pollfd, 2> watched{pollfd{accept_stop_.get(), POLLIN, 0},
                                pollfd{listening_->fd(), POLLIN, 0}};
  bool shortage = false;
  while (!stopping_.load(std::memory_order_relaxed)) {
    // The client of a shortage stays in the backlog, which is ready all the time: pause, not spin.
    poll(watched.data(), shortage ? 1 : 2, shortage ? kShortagePauseMs : -1);
    int socket = -1;
    const Accepted accepted = listening_->accept(socket);
    if (accepted == Accepted::kClient) welcome(socket);
    const bool begins = accepted == Accepted::kShortage && !shortage;
    if (begins) accept_shortages_.fetch_add(1, std::memory_order_relaxed);
    shortage = accepted == Accepted::kShortage;
  }
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
    ::close(socket);
    return;
  }
  handler_->welcome(*connection);
}

PoolSnapshot LivePool::snapshot() const {
  const auto serving = while_serving();
  PoolSnapshot snapshot;
  {
    const std::lock_guard lock(tuple_mutex_);
    snapshot.tuple = tuple_;
    snapshot.tuple_epoch = tuple_epoch_;
  }
  handler_->add_counts(snapshot);
  add_worker_counts(snapshot);
  snapshot.gauges["cpus"] = processors();
  {
    const std::lock_guard lock(connections_mutex_);
    snapshot.gauges["connections"] = static_cast<double>(connections_.size());
  }
  snapshot.counters["protocol_errors"] = static_cast<double>(protocol_errors_.load());
  snapshot.counters["slow_readers"] = static_cast<double>(slow_readers_.load());
  snapshot.counters["refused_connections"] = static_cast<double>(refused_connections_.load());
  snapshot.counters["unarmed_connections"] = static_cast<double>(unarmed_connections_.load());
  snapshot.counters["timed_out_connections"] = static_cast<double>(timed_out_connections_.load());
  snapshot.counters["accept_shortages"] = static_cast<double>(accept_shortages_.load());
  snapshot.time_s = static_cast<double>(now_ns()) / 1e9;
  return snapshot;
}

double LivePool::processors() const {
  if (!settings_.cpus.empty()) return static_cast<double>(settings_.cpus.size());
  cpu_set_t process;
  CPU_ZERO(&process);
  sched_getaffinity(0, sizeof(process), &process);
  return CPU_COUNT(&process);
}

void LivePool::add_worker_counts(PoolSnapshot& snapshot) const {
  WorkerTotals totals = registry_.totals();
  put_worker_counts(snapshot, totals.counters);
  if (settings_.executor.instrument) {
    put_timings(snapshot, std::move(totals.timings), settings_.class_names);
  }
  snapshot.histograms["thread_create_us"] = std::move(totals.create_us);
  snapshot.counters["process_cpu_us"] = static_cast<double>(totals.cpu_ns) / 1e3;
}

}  // namespace poolpilot
