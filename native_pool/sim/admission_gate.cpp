#include "sim/admission_gate.hpp"

#include <utility>

namespace poolpilot::sim {

Admittance AdmissionGate::enter(std::uint32_t connection) {
  const Admittance admittance = admission_.enter(connections_[connection], engine_.now_us());
  check_next();
  return admittance;
}

void AdmissionGate::let_out(std::uint32_t connection, std::uint32_t thread) {
  serve_again(admission_.leave(connections_[connection], engine_.now_us()), thread);
}

void AdmissionGate::configure(const AdmissionSettings& settings) {
  serve_again(admission_.configure(settings, engine_.now_us()), kNobody);
  settings_ = settings;
}

void AdmissionGate::expire() {
  if (engine_.now_ns() != check_ns_) return;
  check_ns_ = kNever;
  serve_again(admission_.expire(engine_.now_us()), kNobody);
}

void AdmissionGate::serve_again(Woken woken, std::uint32_t thread) {
  while (AdmissionTicket* ticket = woken.take()) {
    const auto* connection = static_cast<Connection*>(ticket);
    handler_.requeue(static_cast<std::uint32_t>(connection - connections_.data()), thread);
  }
  check_next();
}

void AdmissionGate::check_next() {
  const std::int64_t expiry_us = admission_.next_expiry_us();
  if (expiry_us == Admission::kNever) return;
  engine_.push_first(check_ns_, expiry_us * 1'000, event_of(EventIs::kAdmissionCheck, 0));
}

}  // namespace poolpilot::sim
