#include "sim/network.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "pool/range.hpp"

namespace poolpilot::sim {
namespace {

constexpr double kNsPerS = 1e9;
constexpr std::uint32_t kArrivalBit = 1U << 31;
constexpr std::uint64_t kStream = 3;

void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

NetworkSpec checked(const NetworkSpec& spec) {
  const std::size_t classes = std::max(spec.rate_per_s.size(), spec.population.size());
  require(classes >= 1, "a network needs rate_per_s or population of at least one class");
  require(spec.rate_per_s.empty() || spec.population.empty(),
          "a network is open (rate_per_s) or closed (population), not both");
  require(!spec.stations.empty(), "a network needs at least one station");
  for (const double rate : spec.rate_per_s) check_range("rate_per_s", rate, 0, 1e9);
  for (const int count : spec.population) check_range("population", count, 0, 1e6);
  for (const StationSpec& station : spec.stations) {
    check_range("channels", station.channels, 1, 1e6);
    check(station.queues);
    require(station.mean_s.size() == classes, "mean_s must name every class");
    for (const double mean : station.mean_s) check_range("mean_s", mean, 1e-9, 1e6);
    check_range("variation", station.variation, 0, 10);
    double sum = 0.0;
    for (const double probability : station.next) {
      check_range("next", probability, 0, 1);
      sum += probability;
    }
    require(station.next.size() <= spec.stations.size() && sum <= 1.0 + 1e-9,
            "next must name stations and add up to at most 1");
  }
  return spec;
}

}  // namespace

Network::Network(const NetworkSpec& spec) : spec_(checked(spec)), random_(spec.seed, kStream) {
  for (const StationSpec& station : spec_.stations) {
    stations_.emplace_back(station, stations_.size());
    has_sharing_ = has_sharing_ || station.service == Service::kSharing;
  }
  for (std::uint32_t i = 0; i < spec_.rate_per_s.size(); ++i) {
    if (spec_.rate_per_s[i] > 0.0) schedule_arrival(i);
  }
  for (std::uint32_t i = 0; i < spec_.population.size(); ++i) {
    for (int n = 0; n < spec_.population[i]; ++n) enter(0, new_customer(i));
  }
}

NetworkCount Network::run(std::int64_t services) {
  const std::size_t classes = std::max(spec_.rate_per_s.size(), spec_.population.size());
  for (StationState& state : stations_) {
    state.count = StationCount{};
    state.count.class_visits.assign(classes, 0);
    state.count.class_stay_s.assign(classes, 0.0);
    state.count.class_wait_s.assign(classes, 0.0);
    state.shared_busy_ns = state.sharing.busy_ns(now_ns_);
  }
  const TimeNs begun_ns = now_ns_;
  const std::int64_t until = services_ + services;
  NetworkCount result;
  while (services_ < until) {
    TimeNs next_ns = events_.next_ns();
    std::size_t sharing = stations_.size();
    for (std::size_t i = 0; has_sharing_ && i < stations_.size(); ++i) {
      if (stations_[i].sharing.next_ns() >= next_ns) continue;
      next_ns = stations_[i].sharing.next_ns();
      sharing = i;
    }
    if (next_ns == kNever) break;
    now_ns_ = next_ns;
    ++result.events;
    if (sharing < stations_.size()) {
      leave(stations_[sharing].sharing.finish());
      continue;
    }
    const std::uint32_t what = events_.pop().what;
    if ((what & kArrivalBit) != 0) {
      arrive(what & ~kArrivalBit);
    } else {
      leave(what);
    }
  }
  result.seconds = static_cast<double>(now_ns_ - begun_ns) / kNsPerS;
  for (StationState& state : stations_) {
    state.count.busy_s += (state.sharing.busy_ns(now_ns_) - state.shared_busy_ns) / kNsPerS;
    result.stations.push_back(state.count);
  }
  return result;
}

void Network::arrive(std::uint32_t class_id) {
  schedule_arrival(class_id);
  enter(0, new_customer(class_id));
}

void Network::schedule_arrival(std::uint32_t class_id) {
  const double pause_ns = random_.exponential(kNsPerS / spec_.rate_per_s[class_id]);
  events_.push(now_ns_ + std::llround(pause_ns), kArrivalBit | class_id);
}

void Network::enter(std::uint32_t index, std::uint32_t number) {
  StationState& state = stations_[index];
  const StationSpec& spec = spec_.stations[index];
  Customer& customer = customers_[number];
  customer.station = index;
  customer.since_ns = now_ns_;
  if (spec.service == Service::kSharing) {
    return state.sharing.start(now_ns_, number, draw_ns(spec, customer.class_id));
  }
  if (spec.service == Service::kDelay) return serve(index, number);
  const RequestKey key{.class_id = static_cast<int>(customer.class_id)};
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
  if (!count.class_wait_s.empty()) {
    const auto wait_ns = static_cast<double>(now_ns_ - customer.since_ns);
    count.class_wait_s[customer.class_id] += wait_ns / kNsPerS;
    count.busy_s += service_ns / kNsPerS;
  }
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
  if (spec_.stations[customer.station].service == Service::kQueued) {
    const auto served_us = static_cast<double>(now_ns_ - customer.served_ns) / 1e3;
    state.queues.serve(customer.taken, served_us);
    if (state.queues.empty()) {
      ++state.idle;
    } else {
      serve_next(customer.station);
    }
  }
  go_on(customer.station, number);
}

void Network::go_on(std::uint32_t from, std::uint32_t number) {
  const std::vector<double>& next = spec_.stations[from].next;
  if (!next.empty()) {
    double drawn = random_.uniform();
    for (std::uint32_t i = 0; i < next.size(); ++i) {
      if (drawn < next[i]) return enter(i, number);
      drawn -= next[i];
    }
  }
  if (!spec_.population.empty()) return enter(0, number);
  free_customers_.push_back(number);
}

double Network::draw_ns(const StationSpec& spec, std::uint32_t class_id) {
  const double mean_ns = spec.mean_s[class_id] * kNsPerS;
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
