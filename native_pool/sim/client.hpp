// The load generator of the simulator: which connection sends what, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "queues/ring.hpp"
#include "sim/parts.hpp"
#include "sim/program.hpp"
#include "sim/settings.hpp"

namespace poolpilot::sim {

struct Arrival {
  std::uint16_t class_id = 0;
  TimeNs scheduled_ns = 0;
};

class Client {
 public:
  Client(const Load& load, double client_us);

  // Deals the classes and schedules the first requests, the arrivals and the changes of the load.
  void begin(EventHeap& events, std::vector<Connection>& connections);

  // The n-th change of the load takes effect. Connections that have been silent begin to send.
  void change(std::uint32_t number, TimeNs now_ns, EventHeap& events,
              std::vector<Connection>& connections);

  // An answer has been sent: schedules what its connection does next.
  void answered(std::uint32_t number, TimeNs now_ns, EventHeap& events,
                std::vector<Connection>& connections);

  // The server was too busy even to let it wait: a closed loop tries again after a short pause, an
  // open one goes on with its next arrival.
  void refused(std::uint32_t number, TimeNs now_ns, EventHeap& events,
               std::vector<Connection>& connections);

  // The pause of a connection is over: it sends, unless it is to be silent by now.
  void paused(std::uint32_t number, TimeNs now_ns, EventHeap& events,
              std::vector<Connection>& connections);

  // A request leaves now; what an open loop sends counts from the time that was scheduled.
  void sends_now(std::uint32_t number, TimeNs now_ns, std::vector<Connection>& connections) const {
    if (!open_loop_) connections[number].sent_ns = now_ns;
  }

  // An arrival of an open loop; schedules the next one.
  void arrive(TimeNs now_ns, EventHeap& events, std::vector<Connection>& connections);

  // Whether an arrival event belongs to the rate in force.
  bool is_current(std::uint32_t epoch) const { return epoch == (arrival_epoch_ & kNumberMask); }

  const Program& program(std::uint16_t class_id) const { return programs_[class_id]; }
  std::int64_t sent() const { return sent_; }

 private:
  // A request takes its turn at the generator.
  void leave(std::uint32_t number, TimeNs now_ns, EventHeap& events,
             std::vector<Connection>& connections);
  void take(std::uint32_t number, const Arrival& arrival, TimeNs now_ns, EventHeap& events,
            std::vector<Connection>& connections);
  void next_arrival(TimeNs now_ns, EventHeap& events);
  std::uint16_t draw_class(Random& random) const;

  Load load_;
  bool open_loop_;
  TimeNs client_ns_;
  std::vector<Program> programs_;
  Random arrivals_;
  double rate_per_s_;
  double think_factor_ = 1.0;
  std::uint32_t sending_;           // connections below this number send
  bool mixed_ = false;              // the shares have changed: every request draws its class
  std::vector<double> cumulative_;  // shares up to a class
  TimeNs client_free_ns_ = 0;
  std::vector<bool> silent_;  // connections that stopped sending
  Ring<std::uint32_t> idle_;  // of an open loop
  Ring<Arrival> backlog_;
  std::uint32_t arrival_epoch_ = 0;  // arrivals of an older rate are void
  std::int64_t sent_ = 0;
};

}  // namespace poolpilot::sim
