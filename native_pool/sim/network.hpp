// Queueing networks of textbook stations on the simulator's own engine: what its parts are proven
// by.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pool/random.hpp"
#include "queues/request_queues.hpp"
#include "sim/event_heap.hpp"
#include "sim/processor_sharing.hpp"

namespace poolpilot::sim {

enum class Service : std::uint8_t {
  kDelay,    // everyone is served at once
  kQueued,   // in the order of a discipline, without interruption
  kSharing,  // processor sharing
};
inline constexpr std::array kServiceNames{"delay", "queued", "sharing"};

inline QueueSettings one_queue() {
  QueueSettings settings;
  settings.discipline = Discipline::kFifo;
  return settings;
}

// Service at a station takes a gamma-distributed time (variation 1: exponential, 0: constant).
struct StationSpec {
  Service service = Service::kQueued;
  int channels = 1;
  std::vector<double> mean_s;  // by class
  double variation = 1.0;
  std::vector<double> next;  // probability of going on to each station; the rest leaves
  QueueSettings queues = one_queue();
};

// An open network has arrivals by class, a closed one a population: who leaves begins anew at
// station 0.
struct NetworkSpec {
  std::vector<StationSpec> stations;
  std::vector<double> rate_per_s;  // Poisson arrivals of each class at station 0; 0: none
  std::vector<int> population;     // customers of each class of a closed network
  std::uint64_t seed = 0;
};

// Sums over the time measured.
struct StationCount {
  std::int64_t visits = 0;
  std::vector<std::int64_t> class_visits;
  std::vector<double> class_stay_s;  // waiting and service
  std::vector<double> class_wait_s;  // waiting alone; of processor sharing it means nothing
  double busy_s = 0.0;               // channel-seconds
};

struct NetworkCount {
  double seconds = 0.0;
  std::int64_t events = 0;
  std::vector<StationCount> stations;
};

class Network {
 public:
  // Throws std::invalid_argument when the specification makes no sense; the text names the field.
  explicit Network(const NetworkSpec& spec);

  // Runs until so many services have ended, counting from nothing.
  NetworkCount run(std::int64_t services);

 private:
  struct Customer {
    std::uint32_t class_id = 0;
    std::uint32_t station = 0;
    TimeNs since_ns = 0;
    TimeNs served_ns = 0;                         // from when on
    RequestQueues<std::uint32_t>::Taken taken{};  // while it is served
  };
  struct StationState {
    StationState(const StationSpec& spec, std::uint64_t number)
        : queues(spec.queues, number), sharing(spec.channels, Contention{}), idle(spec.channels) {}
    RequestQueues<std::uint32_t> queues;
    ProcessorSharing sharing;
    int idle;
    double shared_busy_ns = 0.0;  // of processor sharing, when the counting began
    StationCount count;
  };

  void arrive(std::uint32_t class_id);
  void schedule_arrival(std::uint32_t class_id);
  void enter(std::uint32_t station, std::uint32_t customer);
  void serve(std::uint32_t station, std::uint32_t customer);
  void serve_next(std::uint32_t station);
  void leave(std::uint32_t customer);
  void go_on(std::uint32_t station, std::uint32_t customer);
  double draw_ns(const StationSpec& spec, std::uint32_t class_id);
  std::uint32_t new_customer(std::uint32_t class_id);

  const NetworkSpec spec_;
  bool has_sharing_ = false;
  TimeNs now_ns_ = 0;
  EventHeap events_;
  Random random_;
  std::vector<StationState> stations_;
  std::vector<Customer> customers_;
  std::vector<std::uint32_t> free_customers_;
  std::int64_t services_ = 0;
};

}  // namespace poolpilot::sim
