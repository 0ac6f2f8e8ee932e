// What the load generator sends: settings and their ranges, programs, the deal of connections.
#include "load/program.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>

#include "load/sockets.hpp"

namespace poolpilot::load {
namespace {

Settings small_load() {
  Settings settings;
  settings.address = "tcp:127.0.0.1:1";
  settings.connections = 4;
  settings.classes = {{"only", {{.op = Op::kCpu, .us = 10}}}};
  return settings;
}

TEST(LoadSettings, OutOfRangeIsRefusedInASentence) {
  const auto refused = [](const std::function<void(Settings&)>& spoil, const std::string& part) {
    Settings settings = small_load();
    spoil(settings);
    try {
      check(settings);
      parse_address(settings.address);
      ADD_FAILURE() << "accepted: " << part;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused([](Settings& s) { s.connections = 0; }, "connections is 0, but must be in 1..65536");
  refused([](Settings& s) { s.connections = 65'537; }, "connections is 65537");
  refused([](Settings& s) { s.classes.clear(); }, "number of classes is 0");
  refused([](Settings& s) { s.classes.resize(9); }, "number of classes is 9");
  refused([](Settings& s) { s.classes.resize(2, s.classes[0]); }, "named 'only'");
  refused([](Settings& s) { s.classes[0].share = 0.0; }, "No class has a share");
  refused([](Settings& s) { s.classes[0].share = -1.0; }, "share is -1");
  refused([](Settings& s) { s.classes[0].think_ms = NAN; }, "think_ms is nan");
  refused([](Settings& s) { s.classes[0].steps.resize(257); }, "number of steps is 257");
  refused([](Settings& s) { s.classes[0].steps[0].us = 2e7; }, "step 0 us is 20000000");
  refused([](Settings& s) { s.classes[0].steps[0].variation = -0.1; }, "variation");
  refused([](Settings& s) { s.classes[0].steps[0].latch = 64; }, "latch is 64");
  refused([](Settings& s) { s.classes[0].steps[0] = {.latch = 60, .spread = 5}; }, "1..4");
  refused([](Settings& s) { s.classes[0].steps[0].spin_us = 4096; }, "0..4095");
  refused([](Settings& s) { s.classes[0].steps[0].waiter_cost_us = 1001; },
          "class 'only' step 0 waiter_cost_us is 1001, but must be in 0..1000");
  refused([](Settings& s) { s.rate_per_s = 0.0; }, "rate_per_s is 0");
  refused([](Settings& s) { s.rate_per_s = INFINITY; }, "rate_per_s is inf");
  refused([](Settings& s) { s.part.of = 0; }, "number of parts is 0, but must be in 1..4");
  refused([](Settings& s) { s.part = {0, 5}; }, "number of parts is 5, but must be in 1..4");
  refused([](Settings& s) { s.part = {2, 2}; }, "part is 2, but must be in 0..1");
  refused([](Settings& s) { s.address = "tcp:10.0.0.1:80"; }, "no loopback address");
  refused([](Settings& s) { s.address = "tcp:127.0.0.1:99999"; }, "no loopback address");
  refused([](Settings& s) { s.address = "unix:relative"; }, "must begin with /");
  refused([](Settings& s) { s.address = "unix:/" + std::string(200, 'x'); }, "at most 107");
}

TEST(LoadSettings, AClosedLoopNeedsAConnectionForEachClass) {
  Settings settings = small_load();
  settings.connections = 1;
  settings.classes = {{"a", {}}, {"b", {}}};
  EXPECT_THROW(check(settings), std::invalid_argument);
  settings.rate_per_s = 10.0;
  EXPECT_NO_THROW(check(settings));
}

TEST(LoadSettings, UnknownWordsNameTheKnownOnes) {
  EXPECT_EQ(static_cast<Op>(index_named("op", kOpNames, "acquire") + 1), Op::kAcquire);
  EXPECT_EQ(static_cast<WaitKind>(index_named("kind", kWaitKindNames, "row_lock")),
            WaitKind::kRowLock);
  EXPECT_THROW(index_named("op", kOpNames, "sleep"), std::invalid_argument);
  EXPECT_THROW(index_named("kind", kWaitKindNames, "lunch"), std::invalid_argument);
}

// Limits belong to the process, so each case runs in one of its own.
void ensure_under(const rlimit& limit) {
  setrlimit(RLIMIT_NOFILE, &limit);
  try {
    ensure_descriptors(1000);
  } catch (const std::runtime_error& error) {
    std::cerr << error.what();
    _exit(3);
  }
  rlimit raised{};
  getrlimit(RLIMIT_NOFILE, &raised);
  _exit(raised.rlim_cur == limit.rlim_max ? 0 : 1);
}

TEST(LoadDescriptorsDeathTest, TheSoftLimitIsRaisedToTheHardOne) {
  EXPECT_EXIT(ensure_under({64, 1200}), testing::ExitedWithCode(0), "");
}

TEST(LoadDescriptorsDeathTest, AHardLimitTooLowIsToldInASentence) {
  EXPECT_EXIT(
      ensure_under({64, 1063}), testing::ExitedWithCode(3),
      "1000 connections need 1064 open files but the limit is 1063; raise it .ulimit -n 1064 "
      "as root. or deal them to more processes.");
}

std::vector<Request> drawn(const ClassSpec& spec, std::uint64_t seed, int count) {
  Program program(spec, 0, seed);
  std::vector<Request> requests(static_cast<std::size_t>(count));
  for (Request& request : requests) decode_request(program.next(), request);
  return requests;
}

TEST(LoadProgram, CarriesEveryFieldOfAStep) {
  const ClassSpec spec{
      "all",
      {{.op = Op::kBegin},
       {.op = Op::kCpu, .us = 12.4},
       {.op = Op::kAcquire, .reported = true, .latch = 9, .spin_us = 4095, .waiter_cost_us = 1.5},
       {.op = Op::kWait, .us = 80, .kind = WaitKind::kDiskIo, .reported = true},
       {.op = Op::kRelease, .latch = 9},
       {.op = Op::kCommit}}};
  const std::vector<Step> steps = drawn(spec, 1, 1).at(0).steps;
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[1].value, 12U);
  EXPECT_EQ(steps[2].kind_or_latch, 9);
  EXPECT_EQ(steps[2].aux, (4095U << kSpinShift) | kReported);
  EXPECT_EQ(steps[2].value, 1500U);
  EXPECT_EQ(steps[3].kind_or_latch, static_cast<std::uint8_t>(WaitKind::kDiskIo));
  EXPECT_EQ(steps[3].aux, kReported);
  EXPECT_EQ(steps[3].value, 80U);
  EXPECT_EQ(steps[4].kind_or_latch, 9);
}

TEST(LoadProgram, CarriesTheDearestWaiterThatTheCheckAllows) {
  Settings settings = small_load();
  settings.classes[0].steps = {{.op = Op::kAcquire, .waiter_cost_us = 1000}};
  EXPECT_NO_THROW(check(settings));
  EXPECT_EQ(drawn(settings.classes[0], 1, 1).at(0).steps.at(0).value, kMaxWaiterCostNs);
}

TEST(LoadProgram, SameSeedSameRequestsOtherSeedOthers) {
  const ClassSpec spec{"drawn",
                       {{.op = Op::kAcquire, .latch = 8, .spread = 16},
                        {.op = Op::kCpu, .us = 500, .variation = 1.0},
                        {.op = Op::kRelease, .latch = 8}}};
  const auto values = [&](std::uint64_t seed) {
    std::vector<std::pair<int, std::uint32_t>> list;
    for (const Request& one : drawn(spec, seed, 200)) {
      list.emplace_back(one.steps[0].kind_or_latch, one.steps[1].value);
    }
    return list;
  };
  EXPECT_EQ(values(5), values(5));
  EXPECT_NE(values(5), values(6));
}

TEST(LoadProgram, VariationDrawsTheMeanAndTheCoefficientAsked) {
  const ClassSpec spec{"gamma", {{.op = Op::kWait, .us = 1000, .variation = 0.5}}};
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kDraws = 20'000;
  for (const Request& one : drawn(spec, 3, kDraws)) {
    sum += one.steps[0].value;
    squares += std::pow(one.steps[0].value, 2);
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 1000.0, 5.0 * 500.0 / std::sqrt(kDraws));
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean) / mean, 0.5, 0.02);
}

TEST(LoadProgram, ExtremeVariationStaysWithinTheProtocol) {
  const StepSpec wild{.op = Op::kCpu, .us = 1e7, .variation = 10.0};
  const ClassSpec spec{"wild", std::vector<StepSpec>(6, wild)};
  for (const Request& one : drawn(spec, 3, 5000)) {
    std::uint64_t program_us = 0;
    for (const Step& step : one.steps) {
      EXPECT_LE(step.value, kMaxStepUs);
      program_us += step.value;
    }
    EXPECT_LE(program_us, kMaxProgramUs);
  }
}

TEST(LoadProgram, SpreadReachesEveryLatchAndReleasesTheOneTaken) {
  const ClassSpec spec{"spread",
                       {{.op = Op::kAcquire, .latch = 4, .spread = 3},
                        {.op = Op::kAcquire, .latch = 40},
                        {.op = Op::kRelease, .latch = 40},
                        {.op = Op::kRelease, .latch = 4}}};
  std::set<int> seen;
  for (const Request& one : drawn(spec, 11, 300)) {
    EXPECT_EQ(one.steps[0].kind_or_latch, one.steps[3].kind_or_latch);
    EXPECT_EQ(one.steps[1].kind_or_latch, 40);
    EXPECT_EQ(one.steps[2].kind_or_latch, 40);
    seen.insert(one.steps[0].kind_or_latch);
  }
  EXPECT_EQ(seen, (std::set<int>{4, 5, 6}));
}

std::vector<std::int64_t> dealt(const std::vector<double>& shares, std::size_t connections) {
  std::vector<ClassSpec> classes;
  for (const double share : shares) classes.push_back({"", {}, share});
  std::vector<std::int64_t> counts(shares.size(), 0);
  for (const std::uint16_t class_id : deal_connections(classes, connections, 1)) {
    ++counts[class_id];
  }
  return counts;
}

TEST(LoadDeal, ConnectionsFollowTheSharesWithAtLeastOneEach) {
  EXPECT_EQ(dealt({1, 1}, 10), (std::vector<std::int64_t>{5, 5}));
  EXPECT_EQ(dealt({3, 1}, 8), (std::vector<std::int64_t>{6, 2}));
  EXPECT_EQ(dealt({1000, 1, 0}, 10), (std::vector<std::int64_t>{9, 1, 0}));
  EXPECT_EQ(dealt({1000, 1, 1}, 3), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(dealt({0.5}, 1024), (std::vector<std::int64_t>{1024}));
}

}  // namespace
}  // namespace poolpilot::load
