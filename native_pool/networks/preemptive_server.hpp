// One server that always serves the class with the greatest claim on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "networks/network_spec.hpp"
#include "queues/ring.hpp"
#include "sim/event_heap.hpp"

namespace poolpilot::sim {

// The claim of a class is its weight times the number of its customers here to a power; of equal
// claims that of the lower class counts. It changes only when somebody comes or goes, so the choice
// is made anew then. A class is served in order of arrival; the work that an interruption leaves is
// kept and resumed. Policies of this form: the c-mu rule (Cox and Smith, "Queues": power 0, weights
// of holding cost times service rate), MaxWeight (Tassiulas and Ephremides, "Stability properties
// of constrained queueing systems": power 1), and its powers between and beyond.
class PreemptiveServer {
 public:
  explicit PreemptiveServer(const Claims& claims)
      : claims_(claims), classes_(claims.weights.size()) {}

  // A customer comes with `work_ns` of work.
  void start(TimeNs now_ns, std::uint32_t customer, std::uint32_t class_id, double work_ns) {
    advance(now_ns);
    classes_[class_id].push_back({customer, work_ns});
    choose();
  }

  // When the customer in service is done, if nobody comes before; kNever when there is none.
  TimeNs next_ns() const { return next_ns_; }

  // The customer that is done at next_ns(). Undefined when there is none.
  std::uint32_t finish() {
    advance(next_ns_);
    Ring<Job>& served = classes_[served_];
    const std::uint32_t customer = served.front().customer;
    served.pop_front();
    choose();
    return customer;
  }

  // Time that the server has been busy until `now_ns`.
  double busy_ns(TimeNs now_ns) const {
    return busy_ns_ + (next_ns_ == kNever ? 0.0 : static_cast<double>(now_ns - last_ns_));
  }

 private:
  struct Job {
    std::uint32_t customer;
    double left_ns;
  };

  void advance(TimeNs now_ns) {
    if (next_ns_ != kNever) {
      const auto span_ns = static_cast<double>(now_ns - last_ns_);
      classes_[served_].front().left_ns -= span_ns;
      busy_ns_ += span_ns;
    }
    last_ns_ = now_ns;
  }

  void choose() {
    double greatest = -1.0;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (classes_[i].empty()) continue;
      const double claim = claim_of(i);
      if (claim <= greatest) continue;
      greatest = claim;
      served_ = i;
    }
    if (greatest < 0.0) {
      next_ns_ = kNever;
      return;
    }
    const double left_ns = std::min(std::ceil(classes_[served_].front().left_ns), kLongestSpanNs);
    next_ns_ = last_ns_ + (left_ns > 0.0 ? static_cast<TimeNs>(left_ns) : 0);
  }

  double claim_of(std::size_t class_id) const {
    if (claims_.queue_power == 0.0) return claims_.weights[class_id];
    const auto number = static_cast<double>(classes_[class_id].size());
    const double raised =
        claims_.queue_power == 1.0 ? number : std::pow(number, claims_.queue_power);
    return claims_.weights[class_id] * raised;
  }

  Claims claims_;
  std::vector<Ring<Job>> classes_;
  std::size_t served_ = 0;
  TimeNs last_ns_ = 0;
  TimeNs next_ns_ = kNever;
  double busy_ns_ = 0.0;
};

}  // namespace poolpilot::sim
