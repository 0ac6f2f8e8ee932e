// The load generator: one thread and one epoll drive all connections, in a closed or an open loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <random>
#include <vector>

#include "load/connection.hpp"
#include "load/poller.hpp"
#include "load/program.hpp"
#include "load/report.hpp"
#include "load/settings.hpp"
#include "load/sockets.hpp"

namespace poolpilot::load {

// At most one request is under way per connection. A connection that breaks is not replaced: what
// it waited for is lost and its fault counted.
class LoadGenerator {
 public:
  // Connects everything. Throws std::invalid_argument for settings out of range, std::runtime_error
  // when a connection cannot be made.
  explicit LoadGenerator(Settings settings);

  // Sends until request_stop or until no connection is left, drains and closes. Runs once.
  void run();

  // From any thread, at any time.
  Report report() const;
  void set_rate(double rate_per_s);  // std::invalid_argument in a closed loop
  void request_stop();

 private:
  struct Pause {
    std::int64_t until_ns;
    std::size_t connection;
    bool operator>(const Pause& other) const { return until_ns > other.until_ns; }
  };
  struct Arrival {
    std::uint16_t class_id;
    std::int64_t scheduled_ns;
  };

  void connect_all();
  void begin();
  void turn(std::int64_t deadline_ns);
  void take_rate();
  void send_due();
  void arrive(std::int64_t scheduled_ns);
  void send_request(Connection& connection, std::uint16_t class_id, std::int64_t scheduled_ns);
  void receive(Connection& connection);
  void take_answer(Connection& connection, const Response& response);
  void try_again(Connection& connection);
  void continue_with(Connection& connection);
  void lose(Connection& connection, Fault fault);
  void stop_sending();
  void close_all();

  const Settings settings_;
  const bool open_loop_;
  const std::vector<std::string> class_names_;
  std::vector<Program> programs_;
  std::vector<Connection> connections_;
  std::vector<Response> responses_;  // of the read in progress
  Poller poller_;
  std::mt19937_64 pauses_random_;
  std::mt19937_64 arrivals_random_;
  std::discrete_distribution<int> class_of_arrival_;
  std::priority_queue<Pause, std::vector<Pause>, std::greater<>> pauses_;
  std::deque<std::size_t> idle_;
  std::deque<Arrival> backlog_;
  std::int64_t next_arrival_ns_ = kNever;
  std::uint64_t last_request_id_ = 0;
  std::size_t under_way_ = 0;
  std::size_t connected_ = 0;
  bool sending_ = true;
  double rate_in_force_ = 0.0;
  std::atomic<double> rate_per_s_;
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> started_{false};
  Tally tally_;
};

}  // namespace poolpilot::load
