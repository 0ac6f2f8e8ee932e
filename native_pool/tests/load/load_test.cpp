// The load generator against a small server of its own.
#include <gtest/gtest.h>

#include <set>

#include "load/generator.hpp"
#include "tests/load/small_load.hpp"

namespace poolpilot::load {
namespace {

class LoadOverBothSockets : public testing::TestWithParam<bool> {};

TEST_P(LoadOverBothSockets, ClosedLoopAnswersEverythingItSends) {
  TestServer server(echo, GetParam());
  const Report report = run_until(server, one_class(server, 20), 2000);
  const ClassReport& only = report.classes.at(0);
  EXPECT_GE(only.sent, 2000U);
  EXPECT_EQ(only.sent, only.completed);
  EXPECT_EQ(only.sent, server.requests().size());
  EXPECT_EQ(observations(only.latency_us), static_cast<std::int64_t>(only.completed));
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

TEST(Load, AClosedLoopHasNoRateToSet) {
  const TestServer server(echo);
  LoadGenerator generator(one_class(server, 1));
  EXPECT_THROW(generator.set_rate(10.0), std::invalid_argument);
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
  EXPECT_EQ(observations(only.latency_us), static_cast<std::int64_t>(only.completed));
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
    EXPECT_EQ(observations(only.latency_us), static_cast<std::int64_t>(only.completed));
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
  EXPECT_EQ(report.classes.at(0).undelivered, 0U);  // the server had them
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

TEST(Load, HoldsFourThousandConnections) {
  constexpr std::size_t kConnections = 4096;
  try {
    ensure_descriptors(2 * kConnections);  // both ends are here
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  TestServer server(echo);
  const Report report = run_until(server, one_class(server, kConnections), 3 * kConnections);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
  EXPECT_TRUE(report.errors.empty());
}

}  // namespace
}  // namespace poolpilot::load
