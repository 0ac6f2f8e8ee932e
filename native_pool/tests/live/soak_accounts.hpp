// The books of a soak: what the clients say of their requests and what the pool says, side by side.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "pool/snapshot.hpp"
#include "tests/live/soak_load.hpp"

namespace poolpilot {

// What a pool says became of the requests that have reached its system.
struct Served {
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t refused = 0;
  std::int64_t cancelled = 0;
  std::int64_t run_for_load = 0;  // of the load generators: completed or failed

  Served() = default;
  explicit Served(const PoolSnapshot& snapshot) {
    const auto counter = [&snapshot](const char* name) {
      return static_cast<std::int64_t>(snapshot.counters.at(name));
    };
    completed = counter("completed");
    failed = counter("failed");
    refused = counter("admission_refused");
    cancelled = counter("cancelled_requests");
    for (const char* name : {"latency_us/quick", "latency_us/slow"}) {
      const auto& counts = snapshot.histograms.at(name).counts;
      run_for_load = std::accumulate(counts.begin(), counts.end(), run_for_load);
    }
  }

  void add(const Served& other) {
    completed += other.completed;
    failed += other.failed;
    refused += other.refused;
    cancelled += other.cancelled;
    run_for_load += other.run_for_load;
  }

  std::int64_t all() const { return completed + failed + refused + cancelled; }
};

class SoakAccounts {
 public:
  // A load that has stopped.
  void add(const SoakLoad& load) {
    loaded_.add(load.loaded());
    misbehaved_.add(load.misbehaved());
    refused_calls_ += load.saboteur().refused();
    shortages_ += load.saboteur().shortages();
    for (const auto& one : load.clients()) {
      for (std::size_t i = 0; i < met_.size(); ++i) met_[i] += one->met()[i];
    }
  }

  // Of further clients that do not die.
  void add(const ClientTally& further) { misbehaved_.add(further); }

  // A pool that is closed.
  void close(const Served& served) { closed_.add(served); }

  std::int64_t sent() const { return loaded_.sent + misbehaved_.sent; }

  // `serving`: what a pool that is not closed has counted, now that nobody is connected.
  void expect_agreement(const Served& serving) const {
    Served served = closed_;
    served.add(serving);
    for (const ClientTally& tally : {loaded_, misbehaved_}) {
      EXPECT_EQ(tally.sent, tally.completed + tally.failed + tally.refused + tally.cancelled);
      EXPECT_EQ(tally.wrong, 0);
      EXPECT_EQ(tally.hung, 0);
    }
    EXPECT_EQ(sent(), served.all());
    // Nobody of the load left before the answer: whatever was run for it has been answered.
    EXPECT_EQ(loaded_.completed + loaded_.failed, served.run_for_load);
    EXPECT_LE(loaded_.completed + misbehaved_.completed, served.completed);
  }

  // Hands every number on by its name.
  template <typename Record>
  void report(Record record) const {
    record("sent", sent());
    record("sent_by_load", loaded_.sent);
    record("sent_by_misbehaving", misbehaved_.sent);
    record("undelivered", loaded_.undelivered + misbehaved_.undelivered);
    record("answers_read",
           loaded_.completed + loaded_.failed + misbehaved_.completed + misbehaved_.failed);
    record("refusals_read", loaded_.refused + misbehaved_.refused);
    record("cancelled_at_clients", loaded_.cancelled + misbehaved_.cancelled);
    record("completed", closed_.completed);
    record("failed", closed_.failed);
    record("refused", closed_.refused);
    record("cancelled", closed_.cancelled);
    record("refused_calls", refused_calls_);
    record("descriptor_shortages", shortages_);
    for (std::size_t i = 0; i < met_.size(); ++i) {
      record(std::string("clients_") + kMannerNames[i], met_[i]);
    }
  }

 private:
  ClientTally loaded_;
  ClientTally misbehaved_;
  Served closed_;
  std::int64_t refused_calls_ = 0;
  std::int64_t shortages_ = 0;
  std::array<std::int64_t, kMannerNames.size()> met_{};
};

}  // namespace poolpilot
