#include "networks/network.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace poolpilot::sim {
namespace {

constexpr double kNsPerS = 1e9;
constexpr std::uint32_t kArrivalBit = 1U << 31;
constexpr std::uint64_t kStream = 3;
constexpr std::int64_t kEventsBetweenStops = std::int64_t{1} << 20;

NetworkSpec checked(NetworkSpec spec) {
  check(spec);
  return spec;
}

// As std::llround does for what is not negative, without a call into the library.
TimeNs rounded_ns(double ns) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): it is at least 0
  return static_cast<TimeNs>(std::min(ns, kLongestSpanNs) + 0.5);
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
    if (spec_.rate_per_s[i] > 0.0) events_.push(next_arrival_ns(i), kArrivalBit | i);
  }
  for (std::uint32_t i = 0; i < spec_.population.size(); ++i) {
    for (int n = 0; n < spec_.population[i]; ++n) enter(0, new_customer(i));
  }
}

NetworkCount Network::run(std::int64_t services, std::int64_t events,
                          const std::function<bool()>& stop) {
  begin_counting();
  NetworkCount result;
  const std::int64_t until = services < kNoLimit - services_ ? services_ + services : kNoLimit;
  while (services_ < until && result.events < events && step()) {
    ++result.events;
    if (stop && result.events % kEventsBetweenStops == 0 && stop()) break;
  }
  result.seconds = static_cast<double>(now_ns_ - begun_ns_) / kNsPerS;
  for (StationState& state : stations_) result.stations.push_back(counted(state));
  return result;
}

void Network::begin_counting() {
  begun_ns_ = now_ns_;
  for (StationState& state : stations_) {
    state.serving.begin_counting(now_ns_);
    state.uncounted_busy_ns = state.busy_ns(now_ns_);
    for (ClassState& one : state.classes) {
      one = {.present = one.present};
      one.present.begin_counting(now_ns_);
    }
  }
}

StationCount Network::counted(StationState& state) const {
  StationCount count;
  const double own_ns = state.busy_ns(now_ns_) - state.uncounted_busy_ns;
  state.serving.change(now_ns_, 0);
  count.busy_s = (state.serving.sum_ns + own_ns) / kNsPerS;
  for (ClassState& one : state.classes) {
    one.present.change(now_ns_, 0);
    count.visits += one.visits;
    count.class_visits.push_back(one.visits);
    count.class_stay_s.push_back(one.stay_ns / kNsPerS);
    count.class_wait_s.push_back(one.wait_ns / kNsPerS);
    count.class_present_s.push_back(one.present.sum_ns / kNsPerS);
  }
  return count;
}

// Whether anything was left to happen.
bool Network::step() {
  if (StationState* const first = has_own_time_ ? first_to_finish() : nullptr) {
    go_to(first->next_ns());
    leave(first->finish());
    return true;
  }
  if (events_.empty()) return false;
  const EventHeap::Entry event = events_.front();
  go_to(event.key);
  if ((event.what & kArrivalBit) != 0) {
    const std::uint32_t class_id = event.what & ~kArrivalBit;
    events_.replace_front(next_arrival_ns(class_id), event.what);
    arrive(class_id);
  } else {
    events_.pop();
    leave(event.what);
  }
  return true;
}

void Network::go_to(TimeNs at_ns) {
  if (at_ns > kLastNs) throw std::overflow_error(kClockEndsText);
  now_ns_ = at_ns;
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
  const int place = spec_.routes.places.empty() ? 0 : spec_.routes.places[class_id];
  enter(static_cast<std::uint32_t>(place), new_customer(class_id));
}

TimeNs Network::next_arrival_ns(std::uint32_t class_id) {
  return now_ns_ + rounded_ns(random_.exponential(kNsPerS / spec_.rate_per_s[class_id]));
}

void Network::enter(std::uint32_t index, std::uint32_t number) {
  StationState& state = stations_[index];
  const StationSpec& spec = spec_.stations[index];
  Customer& customer = customers_[number];
  const std::uint32_t class_id = customer.class_id;
  customer.station = index;
  customer.since_ns = now_ns_;
  state.classes[class_id].present.change(now_ns_, 1);
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
  state.queue.put(number, class_id, now_ns_);
  if (state.idle > 0) {
    --state.idle;
    serve_next(index);
  }
}

void Network::serve_next(std::uint32_t index) {
  const StationQueue::Taken taken = stations_[index].queue.take(now_ns_);
  customers_[taken.item].taken = taken;
  serve(index, taken.item);
}

void Network::serve(std::uint32_t index, std::uint32_t number) {
  Customer& customer = customers_[number];
  customer.served_ns = now_ns_;
  StationState& state = stations_[index];
  const double service_ns = draw_ns(spec_.stations[index], customer.class_id);
  state.classes[customer.class_id].wait_ns += static_cast<double>(now_ns_ - customer.since_ns);
  state.serving.change(now_ns_, 1);
  events_.push(now_ns_ + rounded_ns(service_ns), number);
}

void Network::leave(std::uint32_t number) {
  const Customer& customer = customers_[number];
  const std::uint32_t station = customer.station;
  StationState& state = stations_[station];
  ClassState& one = state.classes[customer.class_id];
  ++services_;
  ++one.visits;
  one.stay_ns += static_cast<double>(now_ns_ - customer.since_ns);
  one.present.change(now_ns_, -1);
  const Service service = spec_.stations[station].service;
  if (!keeps_own_time(service)) state.serving.change(now_ns_, -1);
  if (service == Service::kQueued) {
    state.queue.serve(customer.taken, now_ns_ - customer.served_ns);
    if (state.queue.empty()) {
      ++state.idle;
    } else {
      serve_next(station);
    }
  }
  go_on(number);
}

void Network::go_on(std::uint32_t number) {
  Customer& customer = customers_[number];
  const bool by_class = !spec_.routes.places.empty();
  const std::vector<double>& row =
      by_class ? spec_.routes.becomes[customer.class_id] : spec_.stations[customer.station].next;
  const std::size_t next = drawn(row);
  if (next == row.size()) {
    if (!spec_.population.empty()) return enter(0, number);
    free_customers_.push_back(number);
    return;
  }
  if (by_class) customer.class_id = static_cast<std::uint32_t>(next);
  enter(static_cast<std::uint32_t>(by_class ? spec_.routes.places[next] : static_cast<int>(next)),
        number);
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
