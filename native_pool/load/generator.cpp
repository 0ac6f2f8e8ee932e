#include "load/generator.hpp"

#include <algorithm>
#include <stdexcept>

#include "load/random.hpp"
#include "system/clock.hpp"

namespace poolpilot::load {
namespace {

constexpr std::uint32_t kPauseStream = 100;  // apart from the streams of the programs
constexpr std::uint32_t kArrivalStream = 101;
constexpr double kNsPerS = 1e9;

Settings checked(Settings settings) {
  check(settings);
  return settings;
}

std::vector<double> shares_of(const std::vector<ClassSpec>& classes) {
  std::vector<double> shares;
  for (const ClassSpec& spec : classes) shares.push_back(spec.share);
  return shares;
}

std::vector<std::string> names_of(const std::vector<ClassSpec>& classes) {
  std::vector<std::string> names;
  for (const ClassSpec& spec : classes) names.push_back(spec.name);
  return names;
}

}  // namespace

LoadGenerator::LoadGenerator(Settings settings)
    : settings_(checked(std::move(settings))),
      open_loop_(settings_.rate_per_s.has_value()),
      class_names_(names_of(settings_.classes)),
      pauses_random_(random_stream(settings_.seed, kPauseStream)),
      arrivals_random_(random_stream(settings_.seed, kArrivalStream)),
      rate_per_s_(settings_.rate_per_s.value_or(0.0)),
      tally_(settings_.classes.size()) {
  const std::vector<double> shares = shares_of(settings_.classes);
  class_of_arrival_ = std::discrete_distribution<int>(shares.begin(), shares.end());
  for (std::size_t i = 0; i < settings_.classes.size(); ++i) {
    programs_.emplace_back(settings_.classes[i], static_cast<std::uint16_t>(i), settings_.seed);
  }
  connect_all();
}

void LoadGenerator::connect_all() {
  const Address address = parse_address(settings_.address);
  ensure_descriptors(settings_.connections);
  connections_.reserve(settings_.connections);
  for (std::size_t i = 0; i < settings_.connections; ++i) {
    Descriptor socket = connect_to(address, settings_.connect_timeout_s);
    poller_.watch(socket.get(), i);
    connections_.emplace_back(std::move(socket));
  }
  connected_ = connections_.size();
  tally_.connections.set(connected_);
}

void LoadGenerator::run() {
  if (started_.exchange(true)) throw std::logic_error("A load generator runs only once.");
  begin();
  while (!stop_requested_.load() && connected_ > 0) turn(kNever);
  stop_sending();
  const auto patience = static_cast<std::int64_t>(settings_.drain_timeout_s * kNsPerS);
  const std::int64_t deadline_ns = now_ns() + patience;
  while (under_way_ > 0 && now_ns() < deadline_ns) turn(deadline_ns);
  close_all();
}

void LoadGenerator::begin() {
  const std::int64_t start_ns = now_ns();
  const double step_ns = settings_.ramp_s * kNsPerS / static_cast<double>(settings_.connections);
  if (open_loop_) {
    for (std::size_t i = 0; i < connections_.size(); ++i) idle_.push_back(i);
    return take_rate();
  }
  const auto dealt = deal_connections(settings_.classes, settings_.connections, settings_.seed);
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    connections_[i].class_id = dealt[i];
    pauses_.push({start_ns + static_cast<std::int64_t>(step_ns * static_cast<double>(i)), i});
  }
}

void LoadGenerator::turn(std::int64_t deadline_ns) {
  const std::int64_t pause_ends_ns = pauses_.empty() ? kNever : pauses_.top().until_ns;
  const std::int64_t due_ns = std::min({pause_ends_ns, next_arrival_ns_, deadline_ns});
  for (const std::size_t readable : poller_.wait(due_ns)) receive(connections_[readable]);
  if (!sending_) return;
  take_rate();
  send_due();
}

// Arrivals have no memory, so a new rate simply draws the next one anew.
void LoadGenerator::take_rate() {
  const double rate = rate_per_s_.load();
  if (rate == rate_in_force_) return;
  rate_in_force_ = rate;
  next_arrival_ns_ = now_ns() + exponential_ns(arrivals_random_, kNsPerS / rate);
}

void LoadGenerator::send_due() {
  const std::int64_t due_ns = now_ns();
  while (!pauses_.empty() && pauses_.top().until_ns <= due_ns) {
    Connection& connection = connections_[pauses_.top().connection];
    pauses_.pop();
    if (connection.is_open()) send_request(connection, connection.class_id, 0);
  }
  while (next_arrival_ns_ <= due_ns) {
    arrive(next_arrival_ns_);
    next_arrival_ns_ += exponential_ns(arrivals_random_, kNsPerS / rate_in_force_);
  }
}

void LoadGenerator::arrive(std::int64_t scheduled_ns) {
  const auto class_id = static_cast<std::uint16_t>(class_of_arrival_(arrivals_random_));
  while (!idle_.empty()) {
    Connection& connection = connections_[idle_.front()];
    idle_.pop_front();
    if (connection.is_open()) return send_request(connection, class_id, scheduled_ns);
  }
  if (backlog_.size() >= settings_.backlog_limit) return tally_.dropped.add_one();
  backlog_.push_back({class_id, scheduled_ns});
  tally_.backlog.set(backlog_.size());
}

// A scheduled time of 0 means now, read once the frame is drawn.
void LoadGenerator::send_request(Connection& connection, std::uint16_t class_id,
                                 std::int64_t scheduled_ns) {
  const std::span<std::byte> frame = programs_[class_id].next();
  connection.class_id = class_id;
  connection.request_id = ++last_request_id_;
  connection.sent_ns = scheduled_ns != 0 ? scheduled_ns : now_ns();
  stamp_request(frame, connection.request_id, static_cast<std::uint64_t>(connection.sent_ns));
  if (const auto fault = connection.send(frame)) return lose(connection, *fault);
  connection.waiting = true;
  ++under_way_;
  tally_.by_class[class_id].sent.add_one();
}

void LoadGenerator::receive(Connection& connection) {
  responses_.clear();
  const auto fault = connection.receive(responses_);
  for (const Response& response : responses_) take_answer(connection, response);
  if (fault && connection.is_open()) lose(connection, *fault);
}

void LoadGenerator::take_answer(Connection& connection, const Response& response) {
  if (!connection.is_open()) return;
  if (!connection.waiting || response.request_id != connection.request_id) {
    return tally_.unexpected.add_one();
  }
  if (response.class_id != connection.class_id) {
    return lose(connection, Fault::kMalformed);
  }
  connection.waiting = false;
  --under_way_;
  ClassTally& tally = tally_.by_class[connection.class_id];
  if (response.status == Status::kOk) {
    tally.completed.add_one();
    tally.latency_us.record(static_cast<std::uint64_t>(now_ns() - connection.sent_ns) / 1'000);
  } else if (response.status == Status::kRefused) {
    tally.refused.add_one();
    return try_again(connection);
  } else {
    tally.failed.add_one();
  }
  if (sending_) continue_with(connection);
}

// An open loop does not wait for anybody: it goes on with its next arrival.
void LoadGenerator::try_again(Connection& connection) {
  if (!sending_) return;
  if (open_loop_) return continue_with(connection);
  const auto index = static_cast<std::size_t>(&connection - connections_.data());
  pauses_.push({now_ns() + exponential_ns(pauses_random_, kRetryPauseMs * 1e6), index});
}

// What a connection does after an answer.
void LoadGenerator::continue_with(Connection& connection) {
  const auto index = static_cast<std::size_t>(&connection - connections_.data());
  if (open_loop_ && !backlog_.empty()) {
    const Arrival arrival = backlog_.front();
    backlog_.pop_front();
    tally_.backlog.set(backlog_.size());
    return send_request(connection, arrival.class_id, arrival.scheduled_ns);
  }
  if (open_loop_) return idle_.push_back(index);
  const double think_ns = settings_.classes[connection.class_id].think_ms * 1e6;
  if (think_ns <= 0.0) return send_request(connection, connection.class_id, 0);
  pauses_.push({now_ns() + exponential_ns(pauses_random_, think_ns), index});
}

void LoadGenerator::lose(Connection& connection, Fault fault) {
  tally_.faults[static_cast<std::size_t>(fault)].add_one();
  if (connection.waiting) {
    connection.waiting = false;
    --under_way_;
    tally_.by_class[connection.class_id].lost.add_one();
  }
  connection.close();
  tally_.connections.set(--connected_);
}

void LoadGenerator::stop_sending() {
  sending_ = false;
  pauses_ = {};
  idle_.clear();
  backlog_.clear();
  tally_.backlog.set(0);
  next_arrival_ns_ = kNever;
}

void LoadGenerator::close_all() {
  for (Connection& connection : connections_) {
    if (connection.waiting) lose(connection, Fault::kUnanswered);
    connection.close();
  }
  connected_ = 0;
  tally_.connections.set(0);
}

Report LoadGenerator::report() const { return report_of(tally_, class_names_); }

void LoadGenerator::set_rate(double rate_per_s) {
  if (!open_loop_) {
    throw std::invalid_argument("A closed loop has no rate; give the workload a rate_per_s.");
  }
  check_rate(rate_per_s);
  rate_per_s_.store(rate_per_s);
  poller_.wake();
}

void LoadGenerator::request_stop() {
  stop_requested_.store(true);
  poller_.wake();
}

}  // namespace poolpilot::load
