// The load of a soak: load generators, clients that misbehave and a system that refuses, at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "live/server.hpp"
#include "load/generator.hpp"
#include "tests/live/misbehaviour.hpp"
#include "tests/live/saboteur.hpp"

namespace poolpilot {

struct SoakLoadSettings {
  // Clients that wait for the server to close them, others that connect for every request, and a
  // system that refuses to accept: all that a pool which is to be closed cannot count to the end.
  bool lasting = true;
  bool slow_reader = false;
  std::int64_t hasty_requests = 0;  // of clients that are polite and quick
};

class SoakLoad {
 public:
  // Everybody is connected, and sends from now on until stop().
  SoakLoad(LivePool& pool, std::shared_mutex& connecting, const SoakLoadSettings& settings,
           std::mt19937& random)
      : settings_(settings) {
    generators_.push_back(generator(pool, 24, false, random));
    if (settings.lasting) generators_.push_back(generator(pool, 6, true, random));
    for (std::size_t i = 0; i < kMisbehavingThreads + 1; ++i) {
      clients_.push_back(std::make_unique<Misbehaviour>(pool.address(), connecting, random()));
    }
    saboteur_ = std::make_unique<Saboteur>(
        settings.lasting ? Saboteur::Where::kEverywhere : Saboteur::Where::kNotAtAccept, random());
    for (auto& one : generators_) {
      threads_.emplace_back([&one] {
        spare_this_thread();
        one->run();
      });
    }
    for (std::size_t i = 0; i < kMisbehavingThreads; ++i) {
      threads_.emplace_back([this, i] { misbehave(*clients_[i]); });
    }
    threads_.emplace_back([this] { hurry(*clients_.back()); });
  }

  ~SoakLoad() { stop(); }
  SoakLoad(const SoakLoad&) = delete;
  SoakLoad& operator=(const SoakLoad&) = delete;

  // So far, of those whose client has ended.
  std::int64_t sent() const {
    std::int64_t sum = sent_;
    for (const auto& one : generators_) sum += tally_of(one->report()).sent;
    return sum;
  }

  // Everybody ends what they are at, and leaves.
  void stop() {
    stopping_ = true;
    for (auto& one : generators_) one->request_stop();
    for (std::thread& one : threads_) {
      if (one.joinable()) one.join();
    }
    saboteur_->stop();
    for (auto& one : clients_) one->forget_vanished();
  }

  // What the load generators, and what those that misbehave, have counted; once it is stopped.
  ClientTally loaded() const {
    ClientTally sum;
    for (const auto& one : generators_) sum.add(tally_of(one->report()));
    return sum;
  }
  ClientTally misbehaved() const {
    ClientTally sum;
    for (const auto& one : clients_) sum.add(one->tally());
    return sum;
  }

  const Saboteur& saboteur() const { return *saboteur_; }
  const std::vector<std::unique_ptr<Misbehaviour>>& clients() const { return clients_; }

 private:
  static constexpr std::size_t kMisbehavingThreads = 3;

  static ClientTally tally_of(const load::Report& report) {
    ClientTally tally;
    tally.wrong = static_cast<std::int64_t>(report.unexpected);
    for (const load::ClassReport& one : report.classes) {
      tally.sent += static_cast<std::int64_t>(one.sent - one.undelivered);
      tally.completed += static_cast<std::int64_t>(one.completed);
      tally.failed += static_cast<std::int64_t>(one.failed);
      tally.refused += static_cast<std::int64_t>(one.refused);
      tally.cancelled += static_cast<std::int64_t>(one.lost - one.undelivered);
      tally.undelivered += static_cast<std::int64_t>(one.undelivered);
    }
    return tally;
  }

  static std::unique_ptr<load::LoadGenerator> generator(const LivePool& pool,
                                                        std::size_t connections, bool reconnect,
                                                        std::mt19937& random) {
    load::Settings made;
    made.address = pool.address();
    made.connections = connections;
    made.ramp_s = 0.001;
    made.reconnect = reconnect;
    made.reset_on_close = reconnect;
    made.drain_timeout_s = 60.0;
    made.connect_timeout_s = 60.0;
    made.seed = random();
    made.classes = {{"quick", {{.op = Op::kCpu, .us = 2}}},
                    {"slow",
                     {{.op = Op::kCpu, .us = 10},
                      {.op = Op::kWait, .us = 100, .variation = 1.0, .reported = true},
                      {.op = Op::kAcquire, .reported = true, .latch = 2, .spread = 2},
                      {.op = Op::kCpu, .us = 5},
                      {.op = Op::kRelease, .latch = 2, .spread = 2}}}};
    auto generator = std::make_unique<load::LoadGenerator>(made);
    generator->connect();
    return generator;
  }

  void misbehave(Misbehaviour& clients) {
    spare_this_thread();
    if (settings_.slow_reader && &clients == clients_.front().get()) clients.meet_slow_reader();
    std::int64_t before = 0;
    while (!stopping_) {
      settings_.lasting ? clients.meet_one() : clients.meet_brief_one();
      sent_ += clients.tally().sent - before;
      before = clients.tally().sent;
    }
  }

  void hurry(Misbehaviour& clients) {
    spare_this_thread();
    while (!stopping_ && clients.tally().sent < settings_.hasty_requests) {
      const std::int64_t before = clients.tally().sent;
      clients.meet_hasty_one(std::min<std::int64_t>(settings_.hasty_requests - before, 2'000));
      sent_ += clients.tally().sent - before;
    }
  }

  const SoakLoadSettings settings_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> sent_{0};
  std::vector<std::unique_ptr<load::LoadGenerator>> generators_;
  std::vector<std::unique_ptr<Misbehaviour>> clients_;
  std::unique_ptr<Saboteur> saboteur_;
  std::vector<std::thread> threads_;
};

}  // namespace poolpilot
