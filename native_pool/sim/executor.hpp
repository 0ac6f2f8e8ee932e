// What a thread of the simulated pool does with a request, as live/executor.cpp: runs its program,
// which takes processor time, waits, and takes latches.
//
// Owns the rounds under way. Calls the gate for who may begin; the engine, the latches and the
// storage for what a step takes; the client with the answer; and the handler, which it tells of
// waits, gives the connection back, and asks for the next. Of the others only the pool calls it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/admission_gate.hpp"
#include "sim/client.hpp"
#include "sim/engine.hpp"
#include "sim/handler.hpp"
#include "sim/latches.hpp"
#include "sim/rounds.hpp"
#include "sim/storage.hpp"

namespace poolpilot::sim {

class Executor {
 public:
  Executor(Engine& engine, std::vector<Connection>& connections, Client& client, Handler& handler,
           AdmissionGate& gate, Latches& latches, Storage& storage, Measures& measures)
      : engine_(engine),
        connections_(connections),
        client_(client),
        handler_(handler),
        gate_(gate),
        latches_(latches),
        storage_(storage),
        measures_(measures),
        rounds_(engine, measures) {}

  // The burst of a thread without a connection is over: it serves what its handler has for it.
  void resume(std::uint32_t thread) { serve(thread, handler_.resume(thread)); }

  // The burst of a thread that serves one is over, and its program goes on; throw Deadlock.
  void go_on(std::uint32_t thread);
  void logged_in(std::uint32_t thread) { give_back(thread, engine_.thread(thread)); }
  void refused(std::uint32_t thread);
  void waited(std::uint32_t thread);
  void committed(std::uint32_t thread);
  void spun(std::uint32_t thread);
  void try_latch_again(std::uint32_t thread);

  // What those who wait are waiting for.
  std::string waits_text() const;

 private:
  void serve(std::uint32_t thread, std::uint32_t connection);
  Admittance admit(std::uint32_t connection);
  void park(std::uint32_t thread);
  void record_wait(Connection& connection);
  bool do_step(std::uint32_t thread, const ProgramStep& step);
  bool wait(std::uint32_t thread, const ProgramStep& step);
  bool acquire(std::uint32_t thread, const ProgramStep& step);
  void sleep_for_latch(std::uint32_t thread);
  void check_deadlock(std::uint32_t thread) const;
  bool commit(std::uint32_t thread);
  void abandon(std::uint32_t connection);
  void finish(std::uint32_t thread, bool ok);
  void give_back(std::uint32_t number, Thread& thread);
  void block(std::uint32_t thread, WaitKind kind, bool reported);
  void unblock(std::uint32_t thread);

  Engine& engine_;
  std::vector<Connection>& connections_;
  Client& client_;
  Handler& handler_;
  AdmissionGate& gate_;
  Latches& latches_;
  Storage& storage_;
  Measures& measures_;
  const Rounds rounds_;
};

}  // namespace poolpilot::sim
