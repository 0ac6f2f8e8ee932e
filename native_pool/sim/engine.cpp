#include "sim/engine.hpp"

namespace poolpilot::sim {

void Engine::start_thread(std::uint32_t group) {
  const std::uint32_t number = free_thread();
  ++running_threads_;
  threads_[number].group = group;
  threads_[number].phase = Phase::kCreated;
  schedule(static_cast<TimeNs>(machine_.create_us * 1e3), number);
  create_us_.record(static_cast<std::uint64_t>(machine_.create_us));
}

std::uint32_t Engine::free_thread() {
  if (free_threads_.empty()) {
    threads_.emplace_back();
    return static_cast<std::uint32_t>(threads_.size() - 1);
  }
  const std::uint32_t number = free_threads_.back();
  free_threads_.pop_back();
  threads_[number] = Thread{};
  return number;
}

void Engine::end_thread(std::uint32_t number) {
  free_threads_.push_back(number);
  --running_threads_;
}

void Engine::spin(std::uint32_t number, double spin_ns) {
  threads_[number].phase = Phase::kSpinning;
  processors_.spin(now_ns_, number, spin_ns);
}

bool Engine::end_spin(std::uint32_t number) {
  if (!processors_.on_processor(number)) {
    processors_.hurry(now_ns_, number);
    return false;
  }
  processors_.cancel(now_ns_, number);
  book(number);
  return true;
}

}  // namespace poolpilot::sim
