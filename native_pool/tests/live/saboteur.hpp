// A system that keeps refusing: now a thread, now an epoll_ctl, now a descriptor.
#pragma once

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "tests/refusals.hpp"

namespace poolpilot {

// While it lives the process may open no further descriptor than those it has now.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{3, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_{};
};

// Refuses calls of all threads that are not spared, one kind after the other, until it ends.
class Saboteur {
 public:
  enum class Where { kEverywhere, kNotAtAccept };

  Saboteur(Where where, std::mt19937::result_type seed)
      : kinds_(where == Where::kEverywhere ? kCalls.size() + kShortage : kAcceptFirst),
        thread_([this, seed] { run(seed); }) {}
  ~Saboteur() { stop(); }
  Saboteur(const Saboteur&) = delete;
  Saboteur& operator=(const Saboteur&) = delete;

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // Once it is stopped. Times without a descriptor are not among them.
  std::int64_t refused() const { return refused_; }
  std::int64_t shortages() const { return shortages_; }

 private:
  static constexpr std::array kCalls{Refusable::kThread, Refusable::kEpollCtl, Refusable::kEventfd,
                                     Refusable::kEpollCreate, Refusable::kAccept};
  static constexpr std::size_t kAcceptFirst = 4;
#ifdef __SANITIZE_ADDRESS__
  // UBSan opens a pipe to look at the type of an object, and without one takes it for a wrong one.
  static constexpr std::size_t kShortage = 0;
#else
  static constexpr std::size_t kShortage = 1;
#endif

  void run(std::mt19937::result_type seed) {
    spare_this_thread();
    std::mt19937 random(seed);
    while (!stopping_) {
      // Time to serve: each refused epoll_ctl costs a connection.
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
      const std::size_t kind = random() % kinds_;
      const std::chrono::microseconds time(200 + random() % 3'000);
      if (kind == kCalls.size()) {
        const NoMoreDescriptors none;
        std::this_thread::sleep_for(time);
        ++shortages_;
        continue;
      }
      const int times = 1 + static_cast<int>(random() % 3);
      const Refusal refusal(kCalls[kind], 1 + static_cast<int>(random() % 20), times);
      std::this_thread::sleep_for(time);
      refused_ += refusal.refused();
    }
  }

  const std::size_t kinds_;
  std::atomic<bool> stopping_{false};
  std::int64_t refused_ = 0;
  std::int64_t shortages_ = 0;
  std::thread thread_;
};

}  // namespace poolpilot
