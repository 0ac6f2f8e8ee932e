#include "sim/network.hpp"

#include <algorithm>
#include <cmath>

namespace poolpilot::sim {
namespace {

constexpr double kNsPerS = 1e9;
constexpr std::uint32_t kArrivalBit = 1U << 31;
constexpr std::uint64_t kStream = 3;

const NetworkSpec& checked(const NetworkSpec& spec) {
  check(spec);
  return spec;
}

bool keeps_own_time(Service service) {
  return service == Service::kSharing || service == Service::kPreemptive;
}

}  // namespace

Network::Network(const NetworkSpec& spec) : spec_(checked(spec)), random_(spec.seed, kStream) {
  for (const StationSpec& station : spec_.stations) {
    stations_.emplace_back(station, stations_.size());
    has_own_time_ = has_own_time_ || keeps_own_time(station.service);
  }
  begin_counting();
  for (std::uint32_t i = 0; i < spec_.rate_per_s.size(); ++i) {
    if (spec_.rate_per_s[i] > 0.0) schedule_arrival(i);
  }
  for (std::uint32_t i = 0; i < spec_.population.size(); ++i) {
    for (int n = 0; n < spec_.population[i]; ++n) enter(0, new_customer(i));
  }
}

NetworkCount Network::run(std::int64_t services, std::int64_t events) {
  begin_counting();
  NetworkCount result;
  const std::int64_t until = services < kNoLimit - services_ ? services_ + services : kNoLimit;
  while (services_ < until && result.events < events && step()) ++result.events;
  end_counting(result);
  return result;
}

void Network::begin_counting() {
  const std::size_t classes = spec_.classes();
  begun_ns_ = now_ns_;
  for (StationState& state : stations_) {
    state.count = StationCount{};
    state.count.class_visits.assign(classes, 0);
    state.count.class_stay_s.assign(classes, 0.0);
    state.count.class_wait_s.assign(classes, 0.0);
    state.uncounted_busy_ns = state.busy_ns(now_ns_);
    for (Present& present : state.present) {
      present.since_ns = now_ns_;
      present.customer_ns = 0.0;
    }
  }
}

void Network::end_counting(NetworkCount& result) {
  result.seconds = static_cast<double>(now_ns_ - begun_ns_) / kNsPerS;
  for (StationState& state : stations_) {
    state.count.busy_s += (state.busy_ns(now_ns_) - state.uncounted_busy_ns) / kNsPerS;
    for (Present& present : state.present) {
      present.change(now_ns_, 0);
      state.count.class_present_s.push_back(present.customer_ns / kNsPerS);
    }
    result.stations.push_back(state.count);
  }
}

// Whether anything was left to happen.
bool Network::step() {
  if (StationState* const first = has_own_time_ ? first_to_finish() : nullptr) {
    now_ns_ = first->next_ns();
    leave(first->finish());
    return true;
  }
  if (events_.empty()) return false;
  const EventHeap::Event event = events_.pop();
  now_ns_ = event.at_ns;
  if ((event.what & kArrivalBit) != 0) {
    arrive(event.what & ~kArrivalBit);
  } else {
    leave(event.what);
  }
  return true;
}

// Of the stations that keep their own time the one that ends a service before the next event.
Network::StationState* Network::first_to_finish() {
  TimeNs next_ns = events_.next_ns();
  StationState* first = nullptr;
  for (StationState& state : stations_) {
    if (state.next_ns() >= next_ns) continue;
    next_ns = state.next_ns();
    first = &state;
  }
  return first;
}

void Network::arrive(std::uint32_t class_id) {
  schedule_arrival(class_id);
  const int place = spec_.places.empty() ? 0 : spec_.places[class_id];
  enter(static_cast<std::uint32_t>(place), new_customer(class_id));
}

void Network::schedule_arrival(std::uint32_t class_id) {
  const double pause_ns = random_.exponential(kNsPerS / spec_.rate_per_s[class_id]);
  events_.push(now_ns_ + std::llround(pause_ns), kArrivalBit | class_id);
}

void Network::enter(std::uint32_t index, std::uint32_t number) {
  StationState& state = stations_[index];
  const StationSpec& spec = spec_.stations[index];
  Customer& customer = customers_[number];
  const std::uint32_t class_id = customer.class_id;
  customer.station = index;
  customer.since_ns = now_ns_;
  state.present[class_id].change(now_ns_, 1);
  switch (spec.service) {
    case Service::kDelay:
      return serve(index, number);
    case Service::kSharing:
      return state.sharing.start(now_ns_, number, draw_ns(spec, class_id));
    case Service::kPreemptive:
      return state.preemptive.start(now_ns_, number, class_id, draw_ns(spec, class_id));
    case Service::kQueued:
      break;
  }
  const RequestKey key{.class_id = static_cast<int>(class_id)};
  state.queues.put(number, key, now_ns_ / 1'000);
  if (state.idle > 0) {
    --state.idle;
    serve_next(index);
  }
}

void Network::serve_next(std::uint32_t index) {
  RequestQueues<std::uint32_t>& queues = stations_[index].queues;
  queues.age(now_ns_ / 1'000);
  const auto taken = queues.take();
  customers_[taken.item].taken = taken;
  serve(index, taken.item);
}

void Network::serve(std::uint32_t index, std::uint32_t number) {
  Customer& customer = customers_[number];
  customer.served_ns = now_ns_;
  StationCount& count = stations_[index].count;
  const double service_ns = draw_ns(spec_.stations[index], customer.class_id);
  const auto wait_ns = static_cast<double>(now_ns_ - customer.since_ns);
  count.class_wait_s[customer.class_id] += wait_ns / kNsPerS;
  count.busy_s += service_ns / kNsPerS;
  events_.push(now_ns_ + std::llround(service_ns), number);
}

void Network::leave(std::uint32_t number) {
  const Customer customer = customers_[number];
  StationState& state = stations_[customer.station];
  ++services_;
  ++state.count.visits;
  ++state.count.class_visits[customer.class_id];
  state.count.class_stay_s[customer.class_id] +=
      static_cast<double>(now_ns_ - customer.since_ns) / kNsPerS;
  state.present[customer.class_id].change(now_ns_, -1);
  if (spec_.stations[customer.station].service == Service::kQueued) {
    const auto served_us = static_cast<double>(now_ns_ - customer.served_ns) / 1e3;
    state.queues.serve(customer.taken, served_us);
    if (state.queues.empty()) {
      ++state.idle;
    } else {
      serve_next(customer.station);
    }
  }
  go_on(number);
}

void Network::go_on(std::uint32_t number) {
  Customer& customer = customers_[number];
  const bool by_class = !spec_.places.empty();
  const std::vector<double>& row =
      by_class ? spec_.becomes[customer.class_id] : spec_.stations[customer.station].next;
  const std::size_t next = drawn(row);
  if (next == row.size()) {
    if (!spec_.population.empty()) return enter(0, number);
    free_customers_.push_back(number);
    return;
  }
  if (by_class) customer.class_id = static_cast<std::uint32_t>(next);
  enter(static_cast<std::uint32_t>(by_class ? spec_.places[next] : static_cast<int>(next)), number);
}

// A place in the row, drawn by its probability; its end for what is left.
std::size_t Network::drawn(const std::vector<double>& row) {
  if (row.empty()) return 0;
  double left = random_.uniform();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (left < row[i]) return i;
    left -= row[i];
  }
  return row.size();
}

double Network::draw_ns(const StationSpec& spec, std::uint32_t class_id) {
  const double mean_ns = spec.mean_s[class_id] * kNsPerS;
  if (spec.spread > 0.0) {
    const bool long_half = random_.uniform() < 0.5;
    return random_.exponential(mean_ns * (long_half ? 1.0 + spec.spread : 1.0 - spec.spread));
  }
  return spec.variation > 0.0 ? random_.gamma(mean_ns, spec.variation) : mean_ns;
}

std::uint32_t Network::new_customer(std::uint32_t class_id) {
  if (free_customers_.empty()) {
    customers_.emplace_back();
    free_customers_.push_back(static_cast<std::uint32_t>(customers_.size() - 1));
  }
  const std::uint32_t number = free_customers_.back();
  free_customers_.pop_back();
  customers_[number].class_id = class_id;
  return number;
}

}  // namespace poolpilot::sim
