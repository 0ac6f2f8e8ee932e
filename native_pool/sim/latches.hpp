// The latches of the simulated pool: who has one, who spins and who sleeps for it, as
// live/latch.cpp.
//
// Owns the latches and says how a thread stands with the one it wants: whether its program goes on,
// or the pool is told that it waits, is the executor's. Calls the engine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/client.hpp"
#include "sim/engine.hpp"
#include "sim/latch.hpp"
#include "sim/rounds.hpp"

namespace poolpilot::sim {

enum class LatchTurn : std::uint8_t {
  kTaken,
  kSpins,
  kMustSleep,  // and does so at once
  kTooLate,    // it has waited for the whole time-out
};

class Latches {
 public:
  // A time-out of 0 is none.
  Latches(Engine& engine, std::vector<Connection>& connections, const Client& client,
          Measures& measures, double timeout_s)
      : engine_(engine),
        connections_(connections),
        client_(client),
        measures_(measures),
        timeout_s_(timeout_s) {}

  // A thread's program comes to an Acquire.
  LatchTurn acquire(std::uint32_t thread, const ProgramStep& step);
  // Its spin is over.
  LatchTurn spun(std::uint32_t thread);
  // It was woken to try again.
  LatchTurn try_again(std::uint32_t thread);

  // A thread that must sleep: at the tail, or at the head when it was woken in vain.
  void sleep_at_tail(std::uint32_t thread);
  void sleep_at_head(std::uint32_t thread);
  // Whether a thread that has just gone to sleep waits for itself, and nothing will end that.
  bool waits_for_itself(std::uint32_t thread) const;
  // The Acquire that a thread waits in.
  const ProgramStep& acquiring(const Thread& thread) const;

  // Threads that sleep for a latch may have done so for too long.
  void expire_waits(std::uint32_t latch);
  void release(std::uint32_t connection, std::uint8_t latch);
  // All that the connection holds.
  void release_all(std::uint32_t connection);

  // Who waits for whom, and that so many requests are queued.
  std::string waits_text(std::size_t queued) const;

 private:
  void take(std::uint32_t thread);
  void end_wait(std::uint32_t thread);
  void spin(std::uint32_t thread, double spin_ns);
  void sleep(std::uint32_t thread);
  TimeNs deadline_ns(const Thread& thread) const;
  void hand_to_spinner(Latch& latch);
  bool sleeps(std::uint32_t thread) const;

  Engine& engine_;
  std::vector<Connection>& connections_;
  const Client& client_;
  Measures& measures_;
  const double timeout_s_;
  std::array<Latch, kLatches> latches_;
};

}  // namespace poolpilot::sim
