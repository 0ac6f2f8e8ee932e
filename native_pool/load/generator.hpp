// The load generator: one thread and one epoll drive all connections, in a closed or an open loop.
//
// A load that is too much for one thread is sent by several generators, each in a process of its
// own, each a Part. Connections, the classes of a closed loop and backlog_limit are dealt one by
// one and add up to the whole; the rate of an open loop follows the connections, and independent
// Poisson streams are one of the sum of their rates. An arrival waits for a connection of its own
// part.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <random>
#include <vector>

#include "load/connection.hpp"
#include "load/dialling.hpp"
#include "load/loop_time.hpp"
#include "load/poller.hpp"
#include "load/program.hpp"
#include "load/report.hpp"
#include "load/settings.hpp"
#include "load/sockets.hpp"

namespace poolpilot::load {

// At most one request is under way per connection. A connection that breaks is not replaced: what
// it waited for is lost and its fault counted. With `reconnect` a connection is a client that has a
// new one for every request: the latency begins before the connect, and a fault costs that request
// and a short pause.
class LoadGenerator {
 public:
  // Throws std::invalid_argument for settings out of range.
  explicit LoadGenerator(Settings settings);

  // Makes all connections, once. Throws std::runtime_error when one cannot be made.
  void connect();

  // Connects where connect() has not, sends until request_stop or until no connection is left,
  // drains and closes. Runs once.
  void run();

  // From any thread, at any time.
  Report report() const;
  void set_rate(double rate_per_s);  // of the whole; std::invalid_argument in a closed loop
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

  double own_rate(double rate_per_s) const;
  void begin();
  void turn(std::int64_t deadline_ns);
  void take_rate();
  void send_due();
  void arrive_until(std::int64_t time_ns);
  void note_delay(std::int64_t due_ns);
  void resume(const Pause& pause);
  void arrive(std::int64_t scheduled_ns);
  void send_request(Connection& connection, std::uint16_t class_id, std::int64_t scheduled_ns);
  std::optional<Fault> send(Connection& connection, std::span<const std::byte> frame);
  void on_event(Connection& connection);
  void begin_connects_anew();
  void receive(Connection& connection);
  void take_answer(Connection& connection, const Response& response);
  void continue_with(Connection& connection);
  void lose(Connection& connection, Fault fault);
  std::size_t index_of(const Connection& connection) const;
  bool can_send(const Connection& connection) const;
  void close(Connection& connection);
  void count_opened(const Connection& connection);
  void stop_sending();
  void close_all();

  const Settings settings_;
  const Address address_;
  const bool open_loop_;
  const std::size_t own_connections_;
  const std::size_t own_backlog_limit_;
  const std::vector<std::string> class_names_;
  std::vector<Program> programs_;
  std::vector<Connection> connections_;
  std::array<std::byte, 4096> buffer_;
  std::vector<Response> responses_;  // of the read in progress
  Poller poller_;
  Dialling dialling_;
  std::mt19937_64 pauses_random_;
  std::mt19937_64 arrivals_random_;
  std::discrete_distribution<int> class_of_arrival_;
  std::priority_queue<Pause, std::vector<Pause>, std::greater<>> pauses_;
  std::deque<std::size_t> idle_;
  std::deque<Arrival> backlog_;
  std::int64_t next_arrival_ns_ = kNever;
  std::uint64_t requests_ = 0;  // begun so far
  std::size_t under_way_ = 0;
  std::size_t connected_ = 0;
  bool sending_ = true;
  double rate_in_force_ = 0.0;
  std::atomic<double> rate_per_s_;  // of this part
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> started_{false};
  Tally tally_;
  LoopTime time_;
};

}  // namespace poolpilot::load
