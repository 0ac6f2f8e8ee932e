// Admission: so many transactions may be inside at once, the others wait in the order in which they
// came. No threads, no clock, no sockets, no allocation.
//
// A connection that wants to begin a transaction enters, and leaves once it is over or the
// connection ends; a request outside a transaction is a transaction of its own. Who may not run is
// parked, or refused where the queue is full. Whoever makes room (a leave, a higher limit, a long
// transaction that escapes) gets those that have a place now, and must have them served: a place is
// never free while somebody waits, unless a transaction has become a long one and nobody has called
// expire() yet.
//
// A long transaction escapes: after `admission_escape_ms` it no longer counts, so that another may
// enter. Without this a few that hang stop the whole server. It happens where somebody needs the
// place, and to the one that has been inside for longest.
//
// The live server calls it under a mutex, the simulator from its event loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "policy/admission_settings.hpp"

namespace poolpilot {

enum class Admittance : std::uint8_t {
  kRun,
  kPark,    // waits; is served once it is among the Woken
  kRefuse,  // the queue is full: nothing of the request is run
};

// How a connection stands with the admission; part of the connection, and stays where it is.
class AdmissionTicket {
 public:
  AdmissionTicket() = default;
  AdmissionTicket(const AdmissionTicket&) = delete;
  AdmissionTicket& operator=(const AdmissionTicket&) = delete;

  // It was let in and has not left. Changes in the connection's own turn, and while it is parked.
  bool is_admitted() const { return is_admitted_; }

 private:
  friend class Admission;
  friend class Woken;
  enum class Place : std::uint8_t { kOutside, kWaiting, kInside, kEscaped };

  bool is_admitted_ = false;  // apart from `place_`, which others change while the turn lasts
  Place place_ = Place::kOutside;
  std::int64_t since_us_ = 0;  // in this place
  AdmissionTicket* before_ = nullptr;
  AdmissionTicket* after_ = nullptr;
  AdmissionTicket* next_woken_ = nullptr;
};

// Those that waited and are inside now, in their order. Each must be taken, and served.
class [[nodiscard]] Woken {
 public:
  Woken() = default;
  Woken(Woken&& other) noexcept;
  Woken& operator=(Woken&& other) noexcept;  // of one that is empty
  ~Woken();

  // nullptr when there is none left. The ticket belongs to the caller until it passes it on.
  AdmissionTicket* take();

 private:
  friend class Admission;
  void add(AdmissionTicket& ticket);

  AdmissionTicket* first_ = nullptr;
  AdmissionTicket* last_ = nullptr;
};

struct AdmissionCounters {
  std::int64_t admitted = 0;  // at once or after waiting; only while there is a limit
  std::int64_t parked = 0;
  std::int64_t refused = 0;
  std::int64_t escaped = 0;
  std::int64_t inside_us = 0;  // integral over time of those inside, escaped ones among them
};

struct AdmissionState {
  int limit = 0;
  int inside = 0;   // escaped ones among them
  int escaped = 0;  // of those inside
  int waiting = 0;
};

class Admission {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  explicit Admission(const AdmissionSettings& settings) : settings_(settings) {}

  // Times never decrease from call to call.

  // Of a connection that is neither admitted nor waits. Without a limit it runs and is not counted.
  Admittance enter(AdmissionTicket& ticket, std::int64_t now_us);
  // The transaction is over, or the connection is, wherever it stands.
  Woken leave(AdmissionTicket& ticket, std::int64_t now_us);
  // Lets in who may enter because of those that have become long transactions.
  Woken expire(std::int64_t now_us);
  // A higher limit lets in as many more, a lower one sends nobody out, 0 lets in all. Who waits
  // goes on waiting whatever the queue's limit is. Throws std::invalid_argument outside the ranges.
  Woken configure(const AdmissionSettings& settings, std::int64_t now_us);

  // When expire() will have something to do; kNever while nobody waits or nobody can escape.
  std::int64_t next_expiry_us() const;

  AdmissionState state() const;
  // Counters with the integral carried on to `now_us`.
  AdmissionCounters counters_at(std::int64_t now_us) const;

 private:
  // Linked through the tickets themselves, so that one can be taken out of the middle.
  class Queue {
   public:
    void push_back(AdmissionTicket& ticket);
    void remove(AdmissionTicket& ticket);
    AdmissionTicket* front() const { return first_; }
    int size() const { return size_; }

   private:
    AdmissionTicket* first_ = nullptr;
    AdmissionTicket* last_ = nullptr;
    int size_ = 0;
  };

  void advance(std::int64_t now_us);
  bool has_place(std::int64_t now_us);
  void let_in(AdmissionTicket& ticket, std::int64_t now_us);
  Woken let_in_waiting(std::int64_t now_us);

  AdmissionSettings settings_;
  AdmissionCounters counters_;
  std::int64_t integrated_until_us_ = 0;
  Queue waiting_;    // who came first is in front
  Queue inside_;     // who is inside for longest is in front; without the escaped
  int escaped_ = 0;  // and still inside
};

}  // namespace poolpilot
