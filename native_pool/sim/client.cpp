#include "sim/client.hpp"

#include <algorithm>

#include "load/program.hpp"

namespace poolpilot::sim {
namespace {

constexpr double kNsPerS = 1e9;
constexpr std::uint64_t kArrivalStream = 1;
constexpr std::uint64_t kConnectionStreams = 16;  // the streams before belong to no connection

std::vector<double> cumulated(std::vector<double> shares) {
  for (std::size_t i = 1; i < shares.size(); ++i) shares[i] += shares[i - 1];
  return shares;
}

}  // namespace

Client::Client(const Load& load, double client_us)
    : load_(load),
      open_loop_(load.rate_per_s.has_value()),
      client_ns_(whole_ns(client_us * 1e3)),
      arrivals_(load.seed, kArrivalStream),
      rate_per_s_(load.rate_per_s.value_or(0.0)),
      sending_(static_cast<std::uint32_t>(load.connections)),
      silent_(static_cast<std::size_t>(load.connections), false) {
  std::vector<double> shares;
  for (const load::ClassSpec& spec : load.classes) {
    programs_.emplace_back(spec);
    shares.push_back(spec.share);
  }
  cumulative_ = cumulated(shares);
}

void Client::begin(EventHeap& events, std::vector<Connection>& connections) {
  const auto count = static_cast<std::uint32_t>(load_.connections);
  for (std::uint32_t i = 0; i < count; ++i) {
    connections[i].random = Random(load_.seed, kConnectionStreams + i);
  }
  for (std::uint32_t i = 0; i < load_.changes.size(); ++i) {
    events.push(whole_ns(load_.changes[i].at_s * kNsPerS), event_of(EventIs::kChange, i));
  }
  if (open_loop_) {
    for (std::uint32_t i = 0; i < count; ++i) idle_.push_back(i);
    return next_arrival(0, events);
  }
  const auto dealt = load::deal_connections(load_.classes, count, load_.seed);
  const double step_ns = load_.ramp_s * kNsPerS / count;
  for (std::uint32_t i = 0; i < count; ++i) {
    connections[i].class_id = dealt[i];
    events.push(whole_ns(step_ns * i), event_of(EventIs::kLeave, i));
  }
}

void Client::change(std::uint32_t number, TimeNs now_ns, EventHeap& events,
                    std::vector<Connection>& connections) {
  const LoadChange& change = load_.changes[number];
  think_factor_ = change.think_factor.value_or(think_factor_);
  if (!change.shares.empty()) {
    cumulative_ = cumulated(change.shares);
    mixed_ = true;
  }
  if (change.rate_per_s) {
    // Arrivals have no memory, so a new rate simply draws the next one anew.
    rate_per_s_ = *change.rate_per_s;
    ++arrival_epoch_;
    next_arrival(now_ns, events);
  }
  if (!change.connections) return;
  sending_ = static_cast<std::uint32_t>(*change.connections);
  for (std::uint32_t i = 0; i < sending_; ++i) {
    if (!silent_[i]) continue;
    silent_[i] = false;
    leave(i, now_ns, events, connections);
  }
}

void Client::answered(std::uint32_t number, TimeNs now_ns, EventHeap& events,
                      std::vector<Connection>& connections) {
  Connection& connection = connections[number];
  if (open_loop_) {
    if (backlog_.empty()) return idle_.push_back(number);
    const Arrival arrival = backlog_.front();
    backlog_.pop_front();
    return take(number, arrival, now_ns, events, connections);
  }
  if (number >= sending_) {
    silent_[number] = true;
    return;
  }
  const double think_ns = programs_[connection.class_id].think_ns * think_factor_;
  if (mixed_ && !connection.in_transaction) connection.class_id = draw_class(connection.random);
  if (think_ns <= 0.0) return leave(number, now_ns, events, connections);
  const TimeNs pause_ns = whole_ns(connection.random.exponential(think_ns));
  events.push(now_ns + pause_ns, event_of(EventIs::kLeave, number));
}

void Client::refused(std::uint32_t number, TimeNs now_ns, EventHeap& events,
                     std::vector<Connection>& connections) {
  if (open_loop_ || number >= sending_) return answered(number, now_ns, events, connections);
  const double mean_ns = load::kRetryPauseMs * 1e6;
  const TimeNs pause_ns = whole_ns(connections[number].random.exponential(mean_ns));
  events.push(now_ns + pause_ns, event_of(EventIs::kLeave, number));
}

void Client::paused(std::uint32_t number, TimeNs now_ns, EventHeap& events,
                    std::vector<Connection>& connections) {
  if (number >= sending_) {
    silent_[number] = true;
    return;
  }
  leave(number, now_ns, events, connections);
}

// The generator is one thread: what it sends leaves at the pace it can manage.
void Client::leave(std::uint32_t number, TimeNs now_ns, EventHeap& events,
                   std::vector<Connection>& connections) {
  client_free_ns_ = std::max(client_free_ns_, now_ns) + client_ns_;
  connections[number].sent_ns = client_free_ns_;
  ++sent_;
  events.push(client_free_ns_, event_of(EventIs::kSend, number));
}

void Client::arrive(TimeNs now_ns, EventHeap& events, std::vector<Connection>& connections) {
  const std::uint16_t class_id = draw_class(arrivals_);
  next_arrival(now_ns, events);
  const Arrival arrival{class_id, now_ns};
  if (!idle_.empty()) {
    const std::uint32_t number = idle_.front();
    idle_.pop_front();
    return take(number, arrival, now_ns, events, connections);
  }
  if (backlog_.size() < static_cast<std::size_t>(load_.backlog_limit)) backlog_.push_back(arrival);
}

// An open loop counts from the time that was scheduled, whenever a connection is free for it.
void Client::take(std::uint32_t number, const Arrival& arrival, TimeNs now_ns, EventHeap& events,
                  std::vector<Connection>& connections) {
  connections[number].class_id = arrival.class_id;
  leave(number, now_ns, events, connections);
  connections[number].sent_ns = arrival.scheduled_ns;
}

void Client::next_arrival(TimeNs now_ns, EventHeap& events) {
  const double pause_ns = arrivals_.exponential(kNsPerS / rate_per_s_);
  events.push(now_ns + whole_ns(pause_ns), event_of(EventIs::kArrival, arrival_epoch_));
}

std::uint16_t Client::draw_class(Random& random) const {
  const double drawn = random.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), drawn);
  const auto last = static_cast<std::ptrdiff_t>(cumulative_.size()) - 1;
  return static_cast<std::uint16_t>(std::min(found - cumulative_.begin(), last));
}

}  // namespace poolpilot::sim
