#include "policy/admission.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace poolpilot {

Woken::Woken(Woken&& other) noexcept
    : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}

Woken& Woken::operator=(Woken&& other) noexcept {
  assert(first_ == nullptr);
  first_ = std::exchange(other.first_, nullptr);
  last_ = std::exchange(other.last_, nullptr);
  return *this;
}

Woken::~Woken() { assert(first_ == nullptr); }

AdmissionTicket* Woken::take() {
  AdmissionTicket* ticket = first_;
  if (ticket != nullptr) first_ = std::exchange(ticket->next_woken_, nullptr);
  return ticket;
}

void Woken::add(AdmissionTicket& ticket) {
  (first_ == nullptr ? first_ : last_->next_woken_) = &ticket;
  last_ = &ticket;
}

void Admission::Queue::push_back(AdmissionTicket& ticket) {
  ticket.before_ = last_;
  ticket.after_ = nullptr;
  (last_ == nullptr ? first_ : last_->after_) = &ticket;
  last_ = &ticket;
  ++size_;
}

void Admission::Queue::remove(AdmissionTicket& ticket) {
  (ticket.before_ == nullptr ? first_ : ticket.before_->after_) = ticket.after_;
  (ticket.after_ == nullptr ? last_ : ticket.after_->before_) = ticket.before_;
  --size_;
}

Admittance Admission::enter(AdmissionTicket& ticket, std::int64_t now_us) {
  assert(!ticket.is_admitted_ && ticket.place_ == AdmissionTicket::Place::kOutside);
  advance(now_us);
  if (settings_.admission_limit == 0) return Admittance::kRun;
  if (waiting_.size() == 0 && has_place(now_us)) {
    let_in(ticket, now_us);
    return Admittance::kRun;
  }
  const int most = settings_.admission_queue_limit;
  if (most > 0 && waiting_.size() >= most) {
    ++counters_.refused;
    return Admittance::kRefuse;
  }
  ++counters_.parked;
  ticket.place_ = AdmissionTicket::Place::kWaiting;
  ticket.since_us_ = now_us;
  waiting_.push_back(ticket);
  return Admittance::kPark;
}

Woken Admission::leave(AdmissionTicket& ticket, std::int64_t now_us) {
  advance(now_us);
  switch (std::exchange(ticket.place_, AdmissionTicket::Place::kOutside)) {
    case AdmissionTicket::Place::kOutside:
      break;
    case AdmissionTicket::Place::kWaiting:
      waiting_.remove(ticket);
      break;
    case AdmissionTicket::Place::kInside:
      inside_.remove(ticket);
      break;
    case AdmissionTicket::Place::kEscaped:
      --escaped_;
      break;
  }
  ticket.is_admitted_ = false;
  return let_in_waiting(now_us);
}

Woken Admission::expire(std::int64_t now_us) {
  advance(now_us);
  return let_in_waiting(now_us);
}

Woken Admission::configure(const AdmissionSettings& settings, std::int64_t now_us) {
  require_ranges(settings);
  advance(now_us);
  settings_ = settings;
  return let_in_waiting(now_us);
}

std::int64_t Admission::next_expiry_us() const {
  const bool nothing_due =
      waiting_.size() == 0 || inside_.size() == 0 || settings_.admission_escape_ms == 0;
  if (nothing_due) return kNever;
  return inside_.front()->since_us_ + std::int64_t{settings_.admission_escape_ms} * 1'000;
}

// Looks for one only where somebody wants it: a long transaction that is in nobody's way stays
// counted.
bool Admission::has_place(std::int64_t now_us) {
  if (settings_.admission_limit == 0 || inside_.size() < settings_.admission_limit) return true;
  const std::int64_t escape_us = std::int64_t{settings_.admission_escape_ms} * 1'000;
  // A limit that was lowered is overrun by those who were inside before: they leave one by one, and
  // a place is free only once there are fewer than it allows.
  while (escape_us > 0 && inside_.size() >= settings_.admission_limit) {
    AdmissionTicket& oldest = *inside_.front();
    if (now_us - oldest.since_us_ < escape_us) return false;
    inside_.remove(oldest);
    oldest.place_ = AdmissionTicket::Place::kEscaped;
    ++escaped_;
    ++counters_.escaped;
  }
  return inside_.size() < settings_.admission_limit;
}

void Admission::let_in(AdmissionTicket& ticket, std::int64_t now_us) {
  ++counters_.admitted;
  ticket.is_admitted_ = true;
  ticket.place_ = AdmissionTicket::Place::kInside;
  ticket.since_us_ = now_us;
  inside_.push_back(ticket);
}

Woken Admission::let_in_waiting(std::int64_t now_us) {
  Woken woken;
  while (waiting_.size() > 0 && has_place(now_us)) {
    AdmissionTicket& first = *waiting_.front();
    waiting_.remove(first);
    let_in(first, now_us);
    woken.add(first);
  }
  return woken;
}

AdmissionState Admission::state() const {
  return {settings_.admission_limit, inside_.size() + escaped_, escaped_, waiting_.size()};
}

AdmissionCounters Admission::counters_at(std::int64_t now_us) const {
  AdmissionCounters counters = counters_;
  const std::int64_t span_us = std::max<std::int64_t>(now_us - integrated_until_us_, 0);
  counters.inside_us += span_us * (inside_.size() + escaped_);
  return counters;
}

void Admission::advance(std::int64_t now_us) {
  counters_ = counters_at(now_us);
  integrated_until_us_ = std::max(integrated_until_us_, now_us);
}

}  // namespace poolpilot
