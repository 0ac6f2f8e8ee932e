// A small live pool for tests: its settings, the steps of its requests, and what it leaves open.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "live/protocol.hpp"
#include "live/settings.hpp"
#include "tests/environment.hpp"

namespace poolpilot {

inline Step cpu(std::uint32_t us) { return {Op::kCpu, 0, 0, us}; }
inline Step silent(std::uint32_t us) { return {Op::kWait, 0, 0, us}; }
inline Step reported(std::uint32_t us) { return {Op::kWait, 0, kReported, us}; }
inline Step acquire(std::uint8_t latch) { return {Op::kAcquire, latch, 0, 0}; }
inline Step release(std::uint8_t latch) { return {Op::kRelease, latch, 0, 0}; }
inline Step begin() { return {Op::kBegin, 0, 0, 0}; }
inline Step commit() { return {Op::kCommit, 0, 0, 0}; }
inline Step declare(std::uint32_t class_id, SessionPriority priority = SessionPriority::kAuto) {
  return {Op::kDeclare, static_cast<std::uint8_t>(priority), 0, class_id};
}

inline LivePoolSettings small_pool() {
  LivePoolSettings settings;
  settings.class_names = {"all"};
  settings.max_pool_size = 16;
  settings.record_events = true;
  settings.executor.sample_every = 1;
  settings.executor.sample_pause_us = 0;
  settings.tuple.timer_interval_ms = 10;
  return settings;
}

// A socket that no other process of these tests has.
inline std::string socket_path() {
  return testing::TempDir() + "poolpilot_" + std::to_string(getpid()) + ".sock";
}

// Waits until `done`; the bound only ends a test that has failed. What held once counts: asked
// again it may have passed by.
template <typename Predicate>
bool eventually(Predicate done) {
  for (int i = 0; i < 2'000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// The descriptors and threads that this process has and did not have before.
class LeftOpen {
 public:
  LeftOpen() {
    // ThreadSanitizer starts a thread of its own beside the first one of the process.
    std::thread([] {}).join();
    before_ = open_now();
  }

  // A joined thread leaves /proc a little later.
  bool nothing() const {
    return eventually([this] { return std::ranges::includes(before_, open_now()); });
  }

 private:
  static std::set<std::string> open_now() {
    std::set<std::string> paths;
    for (const char* folder : {"/proc/self/fd", "/proc/self/task"}) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        paths.insert(entry.path());
      }
    }
    return paths;
  }

  std::set<std::string> before_;
};

// How often a test closes a pool; POOLPILOT_CLOSES asks for more.
inline int closes() { return number_from_environment("POOLPILOT_CLOSES", 100); }

}  // namespace poolpilot
