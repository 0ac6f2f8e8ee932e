// The load generator: one thread and one epoll drive all connections, in a closed or an open loop.
//
// Size. Up to kMaxConnections. A connection costs this process some 64 bytes, and the system about
// 6 (Unix) or 8 KiB (TCP) for the sockets and polls of both ends. All are made side by side before
// the first request. Limits of the system are raised where they may be (open files), gone round
// (local ports: further loopback addresses) or waited out (the server's accept queue).
//
// Processes. A load that is too much for one thread is sent by several generators, each in a
// process of its own, each a Part. Connections, the classes of a closed loop and backlog_limit are
// dealt one by one and add up to the whole; the rate of an open loop follows the connections, and
// independent Poisson streams are one of the sum of their rates. An arrival waits for a connection
// of its own part. One part alone sends what the whole would.
//
// Open loop. A request is due when it arrives by the schedule, whatever the server, the connections
// or this loop are doing, and its latency counts from then. What still waited for a connection at
// the stop is `unsent`, what found the backlog full is `dropped`: no latency tells of these.
//
// Lateness. `send_delay_us` says how late the loop turned to requests that had a time of their own,
// LoopTimes what it had of a processor: a run whose bottleneck was the generator can be told.
//
// Reconnect. Every request makes a connection and closes it after the answer; the latency begins
// before the connect. The server may meet a client's next connection before the end of the last, so
// its max_connections needs room beyond the clients. This end closes first and its TCP port stays
// in TIME_WAIT for a minute, or, over loopback, for the second after which Linux reuses it unless
// net.ipv4.tcp_tw_reuse is 0. Where the ports run out the fault is no_local_port; a Unix socket has
// none, and with reset_on_close none stays.
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
  void try_again(Connection& connection);
  void continue_with(Connection& connection);
  void lose(Connection& connection, Fault fault, bool sent = true);
  bool has_delivered(const Connection& connection) const;
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
