// Simulations that Python may hand from thread to thread: while one uses them, others are refused.
//
// A run lets the interpreter go, so its lock keeps nobody out.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace poolpilot {

template <typename Simulation>
struct Guarded {
  template <typename... Args>
  explicit Guarded(const char* what, Args&&... args)
      : name(what), simulation(std::forward<Args>(args)...) {}

  const char* name;
  Simulation simulation;
  // Taken with acquire and given back with release: who takes it sees all that was done before.
  std::atomic<bool> in_use{false};
};

// Takes a simulation for as long as it lives; throws std::runtime_error where it is taken.
class Use {
 public:
  template <typename Simulation>
  explicit Use(Guarded<Simulation>& guarded) : in_use_(guarded.in_use) {
    if (in_use_.exchange(true, std::memory_order_acquire)) {
      throw std::runtime_error(std::string(guarded.name) + " is run by one thread at a time");
    }
  }
  ~Use() { in_use_.store(false, std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

// A function of a simulation as Python may call it.
template <typename Result, typename Simulation, typename... Args>
auto guarded(Result (*call)(Simulation&, Args...)) {
  return [call](Guarded<std::remove_const_t<Simulation>>& one, Args... args) -> Result {
    const Use use(one);
    return call(one.simulation, std::forward<Args>(args)...);
  };
}

template <typename Result, typename Simulation>
auto guarded(Result (Simulation::*call)() const) {
  return [call](Guarded<Simulation>& one) -> Result {
    const Use use(one);
    return std::invoke(call, one.simulation);
  };
}

}  // namespace poolpilot
