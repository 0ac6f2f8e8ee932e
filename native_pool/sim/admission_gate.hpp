// The admission of the simulated pool, as live/admission_gate.hpp: its clock, and the way of those
// that waited back to a thread.
//
// Owns the admission and its check for long transactions. Calls the engine for the time, and the
// handler with who is to be served again; the executor calls it.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/admission.hpp"
#include "sim/engine.hpp"
#include "sim/handler.hpp"

namespace poolpilot::sim {

class AdmissionGate {
 public:
  AdmissionGate(Engine& engine, std::vector<Connection>& connections, Handler& handler,
                const AdmissionSettings& settings)
      : engine_(engine),
        connections_(connections),
        handler_(handler),
        settings_(settings),
        admission_(settings) {}

  // Whether a request needs a place. One of a transaction under way never does.
  bool holds_for(int class_id) const {
    return settings_.admission_limit > 0 && class_id != settings_.admission_exempt_class;
  }

  // One that is parked belongs to no thread until the handler has queued it again.
  Admittance enter(std::uint32_t connection);
  // In the connection's turn on a thread. Does nothing for one that was not admitted.
  void leave(std::uint32_t connection, std::uint32_t thread) {
    if (connections_[connection].is_admitted()) let_out(connection, thread);
  }
  // Throws std::invalid_argument outside the ranges; the old settings then stay.
  void configure(const AdmissionSettings& settings);
  // Some transaction may have become a long one.
  void expire();

  AdmissionCounters counters() const { return admission_.counters_at(engine_.now_us()); }
  AdmissionState state() const { return admission_.state(); }

 private:
  void let_out(std::uint32_t connection, std::uint32_t thread);
  void serve_again(Woken woken, std::uint32_t thread);
  void check_next();

  Engine& engine_;
  std::vector<Connection>& connections_;
  Handler& handler_;
  AdmissionSettings settings_;
  Admission admission_;
  TimeNs check_ns_ = kNever;  // the first that counts
};

}  // namespace poolpilot::sim
