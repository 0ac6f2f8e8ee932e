#include "sim/parallel.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "tests/allocations.hpp"
#include "tests/refusals.hpp"
#include "tests/sim/load.hpp"

namespace poolpilot::sim {
namespace {

using namespace std::chrono_literals;

std::vector<std::unique_ptr<SimulatedPool>> pools_of(int count) {
  std::vector<std::unique_ptr<SimulatedPool>> pools;
  for (int i = 0; i < count; ++i) {
    SimulationSettings settings = settings_of({class_of("all", {cpu(50, 1.0)}, 0.5)}, 8);
    settings.load.seed = static_cast<std::uint64_t>(i);
    pools.push_back(std::make_unique<SimulatedPool>(settings));
  }
  return pools;
}

std::vector<PoolRun> runs_of(const std::vector<std::unique_ptr<SimulatedPool>>& pools,
                             double until_s) {
  std::vector<PoolRun> runs;
  for (const auto& pool : pools) runs.push_back({pool.get(), {until_s}, false, {}});
  return runs;
}

TEST(ParallelRuns, GivesWhatEachPoolGivesAlone) {
  const auto alone = pools_of(20);
  for (const auto& pool : alone) pool->run({0.5});
  const auto together = pools_of(20);
  ParallelRuns runs(runs_of(together, 0.5), 4);
  while (!runs.wait_for(10ms)) {
  }
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_TRUE(runs.results()[i].done);
    EXPECT_EQ(together[i]->snapshot().counters, alone[i]->snapshot().counters);
  }
}

TEST(ParallelRuns, StopEndsThoseUnderWayAndBeginsNoOther) {
  const auto pools = pools_of(64);
  ParallelRuns runs(runs_of(pools, 1e6), 2);
  EXPECT_FALSE(runs.wait_for(20ms));
  runs.stop();
  while (!runs.wait_for(10ms)) {
  }
  for (const PoolRun& run : runs.results()) EXPECT_FALSE(run.done);
  EXPECT_EQ(pools.back()->answered(), 0);
}

// What `failure` says of itself; nothing where there is none.
std::string text_of(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(ParallelRuns, MemoryThatIsRefusedFailsTheRunThatAskedForIt) {
  for (long nth = 1;; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth) + " refused");
    const auto pools = pools_of(3);
    const AllocationRefusal refusal(nth);
    ParallelRuns runs(runs_of(pools, 0.01), 2);
    while (!runs.wait_for(10ms)) {
    }
    int failed = 0;
    for (const PoolRun& run : runs.results()) {
      EXPECT_NE(run.done, run.failure != nullptr);
      if (run.failure) {
        EXPECT_THROW(std::rethrow_exception(run.failure), std::bad_alloc);
        ++failed;
      }
    }
    EXPECT_EQ(failed, AllocationRefusal::refused() ? 1 : 0);
    if (!AllocationRefusal::refused()) {
      EXPECT_GT(nth, 10);
      return;
    }
  }
}

TEST(ParallelRuns, DeadlockOfOneIsItsOwn) {
  auto pools = pools_of(1);
  const SimulationSettings settings = opposite_latches(0.0);
  pools.push_back(std::make_unique<SimulatedPool>(settings));
  ParallelRuns runs(runs_of(pools, 0.2), 2);
  while (!runs.wait_for(10ms)) {
  }
  EXPECT_TRUE(runs.results()[0].done);
  EXPECT_FALSE(runs.results()[1].done);
  EXPECT_EQ(runs.results()[0].failure, nullptr);
  EXPECT_THROW(std::rethrow_exception(runs.results()[1].failure), Deadlock);
  EXPECT_NE(text_of(runs.results()[1].failure).find("latch"), std::string::npos);
}

TEST(ParallelRuns, RefusedThreadIsAnErrorAndEndsTheOthers) {
  const auto pools = pools_of(4);
  for (const int nth : {1, 2, 4}) {
    const Refusal refusal(Refusable::kThread, nth);
    try {
      const ParallelRuns runs(runs_of(pools, 1e6), 4);
      ADD_FAILURE() << "no error";
    } catch (const std::system_error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("cannot start the thread of a simulation"));
    }
  }
}

TEST(ParallelRuns, NothingToRunEndsAtOnce) {
  ParallelRuns runs({}, 4);
  EXPECT_TRUE(runs.wait_for(0ms));
}

}  // namespace
}  // namespace poolpilot::sim
