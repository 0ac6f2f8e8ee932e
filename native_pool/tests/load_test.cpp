// The load generator against a small server of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "load/generator.hpp"
#include "system/clock.hpp"
#include "tests/load_test_server.hpp"

namespace poolpilot::load {
namespace {

Settings one_class(const TestServer& server, std::size_t connections) {
  Settings settings;
  settings.address = server.address();
  settings.connections = connections;
  settings.ramp_s = 0.01;
  settings.classes = {{"only", {{.op = Op::kCpu, .us = 10}}}};
  return settings;
}

// Runs until the server has seen `requests`, then stops and drains.
Report run_until(TestServer& server, const Settings& settings, std::size_t requests) {
  LoadGenerator generator(settings);
  std::thread loop([&] { generator.run(); });
  server.await(requests);
  generator.request_stop();
  loop.join();
  return generator.report();
}

std::int64_t observations(const ClassReport& report) {
  std::int64_t sum = 0;
  for (const std::int64_t count : report.latency_us.counts) sum += count;
  return sum;
}

class LoadOverBothSockets : public testing::TestWithParam<bool> {};

TEST_P(LoadOverBothSockets, ClosedLoopAnswersEverythingItSends) {
  TestServer server(echo, GetParam());
  const Report report = run_until(server, one_class(server, 20), 2000);
  const ClassReport& only = report.classes.at(0);
  EXPECT_GE(only.sent, 2000U);
  EXPECT_EQ(only.sent, only.completed);
  EXPECT_EQ(only.sent, server.requests().size());
  EXPECT_EQ(observations(only), static_cast<std::int64_t>(only.completed));
  EXPECT_EQ(only.failed + only.lost + report.unexpected, 0U);
  EXPECT_TRUE(report.errors.empty());
  EXPECT_EQ(report.connections, 0U);
}

INSTANTIATE_TEST_SUITE_P(Load, LoadOverBothSockets, testing::Values(false, true),
                         [](const auto& unix_socket) {
                           return unix_socket.param ? "Unix" : "Tcp";
                         });

TEST(Load, RequestIdsAreNeverReused) {
  TestServer server(echo);
  run_until(server, one_class(server, 8), 500);
  std::set<std::uint64_t> ids;
  const std::vector<Request> requests = server.requests();
  for (const Request& request : requests) ids.insert(request.header.request_id);
  EXPECT_EQ(ids.size(), requests.size());
}

TEST(Load, ThinkTimeLeavesNothingUnanswered) {
  TestServer server(echo);
  Settings settings = one_class(server, 50);
  settings.classes[0].think_ms = 2.0;
  const Report report = run_until(server, settings, 500);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
}

TEST(Load, OpenLoopSchedulesPoissonArrivalsOfItsRate) {
  TestServer server(echo);
  Settings settings = one_class(server, 16);
  settings.rate_per_s = 20'000.0;
  const Report report = run_until(server, settings, 4000);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
  EXPECT_EQ(report.dropped, 0U);
  // Stamps are scheduled times, so that their gaps do not depend on how fast this machine is.
  std::vector<std::uint64_t> stamps;
  for (const Request& request : server.requests()) stamps.push_back(request.header.sent_ns);
  std::sort(stamps.begin(), stamps.end());
  const auto count = static_cast<double>(stamps.size() - 1);
  const double mean_ns = static_cast<double>(stamps.back() - stamps.front()) / count;
  EXPECT_NEAR(mean_ns, 50'000.0, 50'000.0 * 5.0 / std::sqrt(count));
  double squares = 0.0;
  for (std::size_t i = 1; i < stamps.size(); ++i) {
    squares += std::pow(static_cast<double>(stamps[i] - stamps[i - 1]) - mean_ns, 2);
  }
  EXPECT_NEAR(std::sqrt(squares / count) / mean_ns, 1.0, 0.15);
}

TEST(Load, OpenLoopFollowsANewRate) {
  TestServer server(echo);
  Settings settings = one_class(server, 4);
  settings.rate_per_s = 0.001;
  LoadGenerator generator(settings);
  std::thread loop([&] { generator.run(); });
  generator.set_rate(5000.0);
  server.await(100);
  generator.request_stop();
  loop.join();
  EXPECT_EQ(generator.report().classes.at(0).sent, generator.report().classes.at(0).completed);
}

TEST(Load, AClosedLoopHasNoRateToSet) {
  const TestServer server(echo);
  LoadGenerator generator(one_class(server, 1));
  EXPECT_THROW(generator.set_rate(10.0), std::invalid_argument);
}

TEST(Load, FullBacklogDropsArrivalsAndCountsThem) {
  const TestServer server([](const Request&) { return Bytes(); });
  Settings settings = one_class(server, 2);
  settings.rate_per_s = 100'000.0;
  settings.backlog_limit = 5;
  settings.drain_timeout_s = 0.05;
  LoadGenerator generator(settings);
  std::thread loop([&] { generator.run(); });
  while (generator.report().dropped == 0) std::this_thread::yield();
  EXPECT_EQ(generator.report().backlog, 5U);
  generator.request_stop();
  loop.join();
  const Report report = generator.report();
  EXPECT_EQ(report.classes.at(0).sent, 2U);
  EXPECT_EQ(report.classes.at(0).lost, 2U);
  EXPECT_EQ(report.errors, (std::map<std::string, std::uint64_t>{{"unanswered", 2}}));
}

TEST(Load, AnOpenLoopCountsLatencyFromTheScheduledArrival) {
  // One connection, and a server that holds the first answer until ten arrivals wait behind it.
  std::atomic<LoadGenerator*> running{nullptr};
  std::atomic<std::int64_t> answered_ns{0};
  TestServer server([&](const Request& request) {
    if (request.header.request_id == 1) {
      while (running.load()->report().backlog < 10) std::this_thread::yield();
      answered_ns = now_ns();
    }
    return std::optional(response_to(request));
  });
  Settings settings = one_class(server, 1);
  settings.rate_per_s = 1000.0;
  LoadGenerator generator(settings);
  running = &generator;
  std::thread loop([&] { generator.run(); });
  server.await(11);
  generator.request_stop();
  loop.join();
  const std::vector<Request> requests = server.requests();
  for (std::size_t i = 1; i <= 10; ++i) {
    EXPECT_GT(requests[i].header.sent_ns, requests[i - 1].header.sent_ns);
    EXPECT_LT(requests[i].header.sent_ns, static_cast<std::uint64_t>(answered_ns.load()));
  }
}

TEST(Load, DuplicatesAndForeignIdsAreUnexpected) {
  TestServer server([](const Request& request) {
    Bytes twice = response_to(request);
    Request foreign = request;
    foreign.header.request_id += 1'000'000;
    for (const Bytes& extra : {response_to(request), response_to(foreign)}) {
      twice.insert(twice.end(), extra.begin(), extra.end());
    }
    return std::optional(twice);
  });
  const Report report = run_until(server, one_class(server, 1), 50);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
  EXPECT_GE(report.unexpected, 2 * (report.classes.at(0).completed - 1));
}

TEST(Load, OtherStatusIsAFailureWithoutLatency) {
  TestServer server([](const Request& request) {
    const bool odd = request.header.request_id % 2 == 1;
    return std::optional(response_to(request, odd ? Status::kLatchTimeout : Status::kOk));
  });
  const Report report = run_until(server, one_class(server, 4), 100);
  const ClassReport& only = report.classes.at(0);
  EXPECT_GE(only.failed, 50U);
  EXPECT_EQ(only.sent, only.completed + only.failed);
  EXPECT_EQ(observations(only), static_cast<std::int64_t>(only.completed));
}

TEST(Load, ARefusalIsAKindOfItsOwnAndIsTriedAgain) {
  for (const bool open_loop : {false, true}) {
    TestServer server([](const Request& request) {
      const bool odd = request.header.request_id % 2 == 1;
      return std::optional(response_to(request, odd ? Status::kRefused : Status::kOk));
    });
    Settings settings = one_class(server, 4);
    if (open_loop) settings.rate_per_s = 2'000.0;
    const Report report = run_until(server, settings, 60);
    const ClassReport& only = report.classes.at(0);
    EXPECT_GE(only.refused, 20U);
    EXPECT_EQ(only.failed, 0U);
    EXPECT_EQ(only.sent, only.completed + only.refused);
    EXPECT_EQ(observations(only), static_cast<std::int64_t>(only.completed));
  }
}

TEST(Load, ClosedConnectionsAreCountedAndEndTheRunWhenNoneIsLeft) {
  const TestServer server([](const Request& request) {
    return request.header.request_id > 20 ? std::nullopt : std::optional(response_to(request));
  });
  LoadGenerator generator(one_class(server, 3));
  generator.run();  // returns by itself
  const Report report = generator.report();
  EXPECT_EQ(report.errors.at("closed_by_server"), 3U);
  EXPECT_EQ(report.classes.at(0).completed, 20U);
  EXPECT_EQ(report.classes.at(0).lost, 3U);
  EXPECT_EQ(report.connections, 0U);
}

TEST(Load, MalformedResponsesCloseTheConnectionAndAreNamed) {
  const TestServer garbage([](const Request&) { return std::optional(Bytes(kResponseBytes)); });
  LoadGenerator first(one_class(garbage, 2));
  first.run();
  EXPECT_EQ(first.report().errors.at("malformed_response"), 2U);
  const TestServer other_class([](Request request) {
    request.header.class_id = 3;
    return std::optional(response_to(request));
  });
  LoadGenerator second(one_class(other_class, 2));
  second.run();
  EXPECT_EQ(second.report().errors.at("malformed_response"), 2U);
}

TEST(Load, ResponsesInPiecesAreJoined) {
  // Half of every response comes with the next request's answer, so frames straddle reads.
  Bytes held;
  TestServer server([&held](const Request& request) {
    Bytes out = held;
    const Bytes whole = response_to(request);
    out.insert(out.end(), whole.begin(), whole.end());
    held.assign(whole.begin(), whole.begin() + 7);  // a duplicate that stays torn ...
    out.insert(out.end(), held.begin(), held.end());
    held.assign(whole.begin() + 7, whole.end());  // ... until the next answer brings its rest
    return std::optional(out);
  });
  const Report report = run_until(server, one_class(server, 1), 50);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
  EXPECT_EQ(report.unexpected, report.classes.at(0).completed - 1);
  EXPECT_TRUE(report.errors.empty());
}

TEST(Load, ClosedLoopMixServesEveryClass) {
  TestServer server(echo);
  Settings settings = one_class(server, 10);
  settings.classes = {{"most", {}, 98.0}, {"rare", {}, 1.0}, {"off", {}, 0.0}};
  const Report report = run_until(server, settings, 1000);
  EXPECT_GT(report.classes.at(0).sent, report.classes.at(1).sent);
  EXPECT_GT(report.classes.at(1).sent, 0U);
  EXPECT_EQ(report.classes.at(2).sent, 0U);
}

TEST(Load, OpenLoopMixFollowsTheShares) {
  TestServer server(echo);
  Settings settings = one_class(server, 10);
  settings.rate_per_s = 20'000.0;
  settings.classes = {{"three", {}, 3.0}, {"one", {}, 1.0}};
  const Report report = run_until(server, settings, 2000);
  const auto three = static_cast<double>(report.classes.at(0).sent);
  const auto all = three + static_cast<double>(report.classes.at(1).sent);
  EXPECT_NEAR(three / all, 0.75, 5.0 * std::sqrt(0.75 * 0.25 / all));
}

TEST(Load, HoldsAThousandConnections) {
  TestServer server(echo);
  const Report report = run_until(server, one_class(server, 1024), 3000);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
  EXPECT_TRUE(report.errors.empty());
}

}  // namespace
}  // namespace poolpilot::load
