// What threads wait for at the storage: disks, and the flush of the log.
//
// Owns the disks with their queues, and the commits that wait. Calls the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine.hpp"
#include "sim/station.hpp"
#include "system/random.hpp"

namespace poolpilot::sim {

class Storage {
 public:
  Storage(Engine& engine, std::uint64_t seed);

  bool has_disks() const { return !disks_.empty(); }
  // The thread is served by one of the disks, drawn at random.
  void enter_disk(std::uint32_t thread, double service_ns);
  // Its service is over: the next in the queue begins.
  void leave_disk(std::uint32_t thread);

  bool has_log() const { return engine_.machine().flush_us > 0.0; }
  // The thread waits until the log is flushed up to its commit.
  void enter_log(std::uint32_t thread);
  void flushed();

 private:
  void flush();

  Engine& engine_;
  std::vector<Station> disks_;
  Random random_;
  std::vector<std::uint32_t> committing_;  // threads of the flush under way
  std::vector<std::uint32_t> committed_;   // those of the flush that ends
  std::vector<std::uint32_t> next_flush_;
  bool flushing_ = false;
};

}  // namespace poolpilot::sim
