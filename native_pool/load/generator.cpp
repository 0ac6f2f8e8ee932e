#include "load/generator.hpp"

#include <algorithm>
#include <stdexcept>

#include "load/client_addresses.hpp"
#include "load/connecting.hpp"
#include "load/random.hpp"
#include "system/clock.hpp"

namespace poolpilot::load {
namespace {

constexpr std::uint32_t kPauseStream = 100;  // apart from the streams of the programs
constexpr std::uint32_t kArrivalStream = 101;
constexpr double kNsPerS = 1e9;
// A loop that cannot keep up with the arrivals still turns to the answers: else it would send less
// and less, as each turn takes longer than the one before.
constexpr int kArrivalsATurn = 256;

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
      address_(parse_address(settings_.address)),
      open_loop_(settings_.rate_per_s.has_value()),
      own_connections_(settings_.part.share_of(settings_.connections)),
      own_backlog_limit_(
          settings_.part.share_of(static_cast<std::size_t>(settings_.backlog_limit))),
      class_names_(names_of(settings_.classes)),
      dialling_(settings_, address_, poller_),
      pauses_random_(random_stream(settings_.seed, settings_.part.stream(kPauseStream))),
      arrivals_random_(random_stream(settings_.seed, settings_.part.stream(kArrivalStream))),
      rate_per_s_(own_rate(settings_.rate_per_s.value_or(0.0))),
      tally_(settings_.classes.size()) {
  const std::vector<double> shares = shares_of(settings_.classes);
  class_of_arrival_ = std::discrete_distribution<int>(shares.begin(), shares.end());
  for (std::size_t i = 0; i < settings_.classes.size(); ++i) {
    programs_.emplace_back(settings_.classes[i], static_cast<std::uint16_t>(i), settings_.seed,
                           settings_.part);
  }
}

// Exactly the rate where there is one part.
double LoadGenerator::own_rate(double rate_per_s) const {
  if (settings_.part.of == 1) return rate_per_s;
  return rate_per_s * static_cast<double>(own_connections_) /
         static_cast<double>(settings_.connections);
}

void LoadGenerator::connect() {
  ensure_descriptors(own_connections_);
  const ClientAddresses clients(settings_.connections, local_ports());
  const auto client = [&](std::size_t index) { return clients.of(settings_.part.in_whole(index)); };
  // With a connection for every request one connect shows that there is a server.
  std::vector<Descriptor> sockets = connect_all(
      address_, settings_.reconnect ? 1 : own_connections_, client, settings_.connect_timeout_s);
  connections_.resize(own_connections_);
  if (settings_.reconnect) return;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (settings_.reset_on_close) reset_on_close(sockets[i].get());
    poller_.watch(sockets[i].get(), i);
    connections_[i].open(std::move(sockets[i]));
    count_opened(connections_[i]);
  }
}

void LoadGenerator::run() {
  if (started_.exchange(true)) throw std::logic_error("A load generator runs only once.");
  if (connections_.empty()) connect();
  time_.begin();
  begin();
  while (!stop_requested_.load() && (settings_.reconnect || connected_ > 0)) turn(kNever);
  stop_sending();
  const auto patience = static_cast<std::int64_t>(settings_.drain_timeout_s * kNsPerS);
  const std::int64_t deadline_ns = now_ns() + patience;
  while (under_way_ > 0 && now_ns() < deadline_ns) turn(deadline_ns);
  close_all();
  time_.end();
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
    const std::size_t in_whole = settings_.part.in_whole(i);
    connections_[i].class_id = dealt[in_whole];
    pauses_.push(
        {start_ns + static_cast<std::int64_t>(step_ns * static_cast<double>(in_whole)), i});
  }
}

void LoadGenerator::turn(std::int64_t deadline_ns) {
  const std::int64_t pause_ends_ns = pauses_.empty() ? kNever : pauses_.top().until_ns;
  const std::int64_t due_ns =
      std::min({pause_ends_ns, next_arrival_ns_, dialling_.next_retry_ns(), deadline_ns});
  for (const std::size_t index : poller_.wait(due_ns)) on_event(connections_[index]);
  time_.look(now_ns());
  begin_connects_anew();
  if (!sending_) return;
  take_rate();
  send_due();
}

// What was due until now arrives under the old rate, however late the loop is. Arrivals have no
// memory, so the new rate simply draws the next one anew.
void LoadGenerator::take_rate() {
  const double rate = rate_per_s_.load();
  if (rate == rate_in_force_) return;
  const std::int64_t time_ns = now_ns();
  arrive_until(time_ns);
  rate_in_force_ = rate;
  next_arrival_ns_ = time_ns + exponential_ns(arrivals_random_, kNsPerS / rate);
}

void LoadGenerator::send_due() {
  const std::int64_t due_ns = now_ns();
  while (!pauses_.empty() && pauses_.top().until_ns <= due_ns) {
    const Pause pause = pauses_.top();
    pauses_.pop();
    resume(pause);
  }
  for (int i = 0; i < kArrivalsATurn && next_arrival_ns_ <= due_ns; ++i) {
    arrive_until(next_arrival_ns_);
  }
}

void LoadGenerator::arrive_until(std::int64_t time_ns) {
  while (next_arrival_ns_ <= time_ns) {
    arrive(next_arrival_ns_);
    next_arrival_ns_ += exponential_ns(arrivals_random_, kNsPerS / rate_in_force_);
  }
}

// In an open loop only a fault makes a connection pause.
void LoadGenerator::resume(const Pause& pause) {
  Connection& connection = connections_[pause.connection];
  if (!can_send(connection)) return;
  if (open_loop_) return continue_with(connection);
  note_delay(pause.until_ns);
  send_request(connection, connection.class_id, 0);
}

// How late the loop turns to a request whose time was known.
void LoadGenerator::note_delay(std::int64_t due_ns) {
  tally_.send_delay_us.record(whole_us(now_ns() - due_ns));
}

void LoadGenerator::arrive(std::int64_t scheduled_ns) {
  note_delay(scheduled_ns);
  const auto class_id = static_cast<std::uint16_t>(class_of_arrival_(arrivals_random_));
  while (!idle_.empty()) {
    Connection& connection = connections_[idle_.front()];
    idle_.pop_front();
    if (can_send(connection)) return send_request(connection, class_id, scheduled_ns);
  }
  if (backlog_.size() >= own_backlog_limit_) return tally_.dropped.add_one();
  backlog_.push_back({class_id, scheduled_ns});
  tally_.backlog.set(backlog_.size());
}

void LoadGenerator::stop_sending() {
  sending_ = false;
  tally_.unsent.set(backlog_.size());
  pauses_ = {};
  idle_.clear();
  backlog_.clear();
  tally_.backlog.set(0);
  next_arrival_ns_ = kNever;
}

void LoadGenerator::close_all() {
  for (Connection& connection : connections_) {
    if (connection.waiting) lose(connection, Fault::kUnanswered);
    close(connection);
  }
}

Report LoadGenerator::report() const {
  Report report = report_of(tally_, class_names_);
  report.loop = time_.read();
  return report;
}

void LoadGenerator::set_rate(double rate_per_s) {
  if (!open_loop_) {
    throw std::invalid_argument("A closed loop has no rate; give the workload a rate_per_s.");
  }
  check_rate(rate_per_s);
  rate_per_s_.store(own_rate(rate_per_s));
  poller_.wake();
}

void LoadGenerator::request_stop() {
  stop_requested_.store(true);
  poller_.wake();
}

}  // namespace poolpilot::load
