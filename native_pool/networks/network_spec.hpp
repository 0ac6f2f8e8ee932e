// What a queueing network is made of: textbook stations, and customers who go from one to another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "queues/queue_settings.hpp"

namespace poolpilot::sim {

enum class Service : std::uint8_t {
  kDelay,       // everyone is served at once
  kQueued,      // in the order of a discipline, without interruption
  kSharing,     // processor sharing
  kPreemptive,  // one server for the class with the greatest claim; what it leaves is resumed
};
inline constexpr std::array kServiceNames{"delay", "queued", "sharing", "preemptive"};

inline QueueSettings one_queue() {
  QueueSettings settings;
  settings.discipline = Discipline::kFifo;
  return settings;
}

// What a preemptive station goes by: the claim of a class is its weight times the number of its
// customers here to a power. With weights of holding cost times service rate, 0 is the c-mu rule
// and 1 is MaxWeight; with equal weights 1 is the longest queue.
struct Claims {
  std::vector<double> weights;  // by class
  double queue_power = 0.0;
};

// Service at a station takes a gamma-distributed time (variation 1: exponential, 0: constant). With
// a `spread` it is hyperexponential: half of the services are exponential with 1 + spread times the
// mean, the others with 1 - spread times.
struct StationSpec {
  Service service = Service::kQueued;
  int channels = 1;
  std::vector<double> mean_s;  // by class; 0 where the place of a class is another station
  double variation = 1.0;
  std::vector<double> next;  // probability of going on to each station; the rest leaves
  QueueSettings queues = one_queue();
  double spread = 0.0;
  Claims claims{};
};

// Of a multi-class network: a class is served at its place, and its customers go on as another
// class or leave.
struct Routes {
  std::vector<int> places;                   // station of each class
  std::vector<std::vector<double>> becomes;  // probability that a class goes on as each class
};

// An open network has arrivals by class, a closed one a population: who leaves begins anew at
// station 0. Without routes customers go from station to station by `next`, and keep their class.
struct NetworkSpec {
  std::vector<StationSpec> stations;
  std::vector<double> rate_per_s;  // Poisson arrivals of each class; 0: none
  std::vector<int> population;     // customers of each class of a closed network
  std::uint64_t seed = 0;
  Routes routes{};

  std::size_t classes() const {
    return rate_per_s.size() > population.size() ? rate_per_s.size() : population.size();
  }
};

// Throws std::invalid_argument when the specification makes no sense; the text names the field.
void check(const NetworkSpec& spec);

}  // namespace poolpilot::sim
