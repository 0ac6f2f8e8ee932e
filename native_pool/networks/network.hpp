// Queueing networks of textbook stations on the simulator's own engine: what its parts are proven
// by, and a place to study disciplines in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "networks/network_spec.hpp"
#include "networks/preemptive_server.hpp"
#include "networks/station_queue.hpp"
#include "sim/event_heap.hpp"
#include "sim/processor_sharing.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {

// Sums over the time measured.
struct StationCount {
  std::int64_t visits = 0;
  std::vector<std::int64_t> class_visits;
  std::vector<double> class_stay_s;     // waiting and service
  std::vector<double> class_wait_s;     // waiting alone; of sharing and preemptive service nothing
  std::vector<double> class_present_s;  // customer-seconds: those here, integrated over the time
  double busy_s = 0.0;                  // channel-seconds
};

struct NetworkCount {
  double seconds = 0.0;
  std::int64_t events = 0;
  std::vector<StationCount> stations;
};

class Network {
 public:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  // Throws std::invalid_argument when the specification makes no sense; the text names the field.
  explicit Network(const NetworkSpec& spec);

  // Runs until so many services have ended, or so many arrivals and ends of services have
  // happened, counting from nothing. `stop` is asked now and then whether to end before.
  // Throws std::overflow_error where the clock has come to its end, after 146 years.
  NetworkCount run(std::int64_t services, std::int64_t events = kNoLimit,
                   const std::function<bool()>& stop = {});

 private:
  struct Customer {
    std::uint32_t class_id = 0;
    std::uint32_t station = 0;
    TimeNs since_ns = 0;
    TimeNs served_ns = 0;         // from when on
    StationQueue::Taken taken{};  // while it is served
  };
  // A number and its integral over the time measured. Sums are of nanoseconds: whole numbers, which
  // a double adds up exactly for as long as they are below 2^53.
  struct Level {
    std::int64_t number = 0;
    double sum_ns = 0.0;
    TimeNs changed_ns = 0;

    void change(TimeNs now_ns, std::int64_t by) {
      sum_ns += static_cast<double>(number) * static_cast<double>(now_ns - changed_ns);
      changed_ns = now_ns;
      number += by;
    }
    void begin_counting(TimeNs now_ns) {
      sum_ns = 0.0;
      changed_ns = now_ns;
    }
  };
  // A class at a station; sums as those of a level.
  struct ClassState {
    std::int64_t visits = 0;
    double stay_ns = 0.0;
    double wait_ns = 0.0;
    Level present;  // customers here
  };
  struct StationState {
    StationState(const StationSpec& spec, std::uint64_t number)
        : queue(spec.queues, number),
          sharing(spec.channels, Contention{}),
          preemptive(spec.claims),
          idle(spec.channels),
          classes(spec.mean_s.size()) {}

    // Of services that keep their own time.
    TimeNs next_ns() const { return std::min(sharing.next_ns(), preemptive.next_ns()); }
    std::uint32_t finish() {
      return preemptive.next_ns() == kNever ? sharing.finish() : preemptive.finish();
    }
    double busy_ns(TimeNs now_ns) const {
      return sharing.busy_ns(now_ns) + preemptive.busy_ns(now_ns);
    }

    StationQueue queue;
    ProcessorSharing sharing;
    PreemptiveServer preemptive;
    int idle;
    std::vector<ClassState> classes;
    Level serving;                   // channels of services that do not keep their own time
    double uncounted_busy_ns = 0.0;  // of those that do, before the counting
  };

  void begin_counting();
  StationCount counted(StationState& state) const;
  bool step();
  void go_to(TimeNs at_ns);
  StationState* first_to_finish();
  void arrive(std::uint32_t class_id);
  TimeNs next_arrival_ns(std::uint32_t class_id);
  void enter(std::uint32_t station, std::uint32_t customer);
  void serve(std::uint32_t station, std::uint32_t customer);
  void serve_next(std::uint32_t station);
  void leave(std::uint32_t customer);
  void go_on(std::uint32_t customer);
  std::size_t drawn(const std::vector<double>& row);
  double draw_ns(const StationSpec& spec, std::uint32_t class_id);
  std::uint32_t new_customer(std::uint32_t class_id);

  const NetworkSpec spec_;
  bool has_own_time_ = false;  // some service keeps its own time
  TimeNs now_ns_ = 0;
  TimeNs begun_ns_ = 0;  // the counting
  EventHeap events_;
  Random random_;
  std::vector<StationState> stations_;
  std::vector<Customer> customers_;
  std::vector<std::uint32_t> free_customers_;
  std::int64_t services_ = 0;
};

}  // namespace poolpilot::sim
