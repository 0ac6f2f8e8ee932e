#include "live/handlers/per_connection.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "live/handlers/serving_thread.hpp"
#include "system/clock.hpp"

namespace poolpilot {

// Serves one connection after the other, each to its end.
class PerConnection::Thread final : public ServingThread {
 public:
  Thread(const LivePoolSettings& settings, HandlerHost& host, WorkerStats& stats, int stop_event)
      : ServingThread(settings, host, stats), stop_event_(stop_event) {}

  // Returns when the connection is closed, or the pool stops.
  void serve_all(Connection& connection) {
    connection.home = this;
    open_ = true;
    OwnSocket found = OwnSocket::kReady;  // for a first turn there is nothing to wait for
    while (found != OwnSocket::kCalled) {
      serve(connection, found);
      if (!open_) return;
      found = wait_for_client(connection, stop_event_);
    }
  }

  void remove(Connection&) override { open_ = false; }

 private:
  const int stop_event_;
  bool open_ = false;  // the connection it serves
};

void PerConnection::start() {
  stop_event_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_event_.valid()) {
    throw std::system_error(errno, std::generic_category(), "cannot create the stop event");
  }
}

bool PerConnection::welcome(Connection& connection) {
  const std::lock_guard lock(mutex_);
  return call_cached(connection) || start_thread(connection);
}

bool PerConnection::call_cached(Connection& connection) {
  if (cache_.empty()) return false;
  Cached* const cached = cache_.back();
  cache_.pop_back();
  cached->connection = &connection;
  cached->called.notify_one();
  ++reused_;
  return true;
}

bool PerConnection::start_thread(Connection& connection) {
  if (stopping_) return false;
  const auto body = [this, &connection](WorkerStats& stats) { work(stats, connection); };
  if (!registry_.start(body)) return false;
  threads_.add(1, now_ns() / 1'000);
  ++created_;
  return true;
}

void PerConnection::work(WorkerStats& stats, Connection& first) {
  Thread thread(settings_, host_, stats, stop_event_.get());
  for (Connection* one = &first; one != nullptr; one = wait_in_cache()) thread.serve_all(*one);
}

// The next connection of a thread that has none; nullptr when it ends.
Connection* PerConnection::wait_in_cache() {
  std::unique_lock lock(mutex_);
  Cached self;
  if (!stopping_ && std::cmp_less(cache_.size(), settings_.handling.thread_cache_size)) {
    cache_.push_back(&self);
    self.called.wait(lock, [&] { return self.connection != nullptr || stopping_; });
  }
  if (self.connection == nullptr) threads_.add(-1, now_ns() / 1'000);
  return self.connection;
}

void PerConnection::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (Cached* cached : cache_) cached->called.notify_one();
  cache_.clear();
  if (stop_event_.valid()) eventfd_write(stop_event_.get(), 1);
}

void PerConnection::add_counts(PoolSnapshot& snapshot, const WorkerTotals& workers) const {
  GroupCounters counters;
  GroupState state;
  {
    const std::lock_guard lock(mutex_);
    counters.thread_creations = created_;
    counters.wakes = reused_;
    counters.thread_us = threads_.integral_us(now_ns() / 1'000);
    state.thread_count = threads_.count();
  }
  counters.active_thread_us = workers.active_ns / 1'000;
  state.active_count = workers.active_threads;
  put_group_counts(snapshot, counters, state);
}

}  // namespace poolpilot
