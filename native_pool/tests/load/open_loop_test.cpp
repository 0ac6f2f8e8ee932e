// The open loop: arrivals that depend on nobody, and latencies from the moment a request was due.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "load/generator.hpp"
#include "system/clock.hpp"
#include "tests/live/held_thread.hpp"
#include "tests/load/small_load.hpp"

namespace poolpilot::load {
namespace {

TEST(LoadOpenLoop, SchedulesPoissonArrivalsOfItsRate) {
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

TEST(LoadOpenLoop, FollowsANewRate) {
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

TEST(LoadOpenLoop, FullBacklogDropsArrivalsAndCountsThem) {
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
  EXPECT_EQ(report.backlog, 0U);
  EXPECT_EQ(report.unsent, 5U);
}

TEST(LoadOpenLoop, CountsLatencyFromTheScheduledArrival) {
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

TEST(LoadOpenLoop, MixFollowsTheShares) {
  TestServer server(echo);
  Settings settings = one_class(server, 10);
  settings.rate_per_s = 20'000.0;
  settings.classes = {{"three", {}, 3.0}, {"one", {}, 1.0}};
  const Report report = run_until(server, settings, 2000);
  const auto three = static_cast<double>(report.classes.at(0).sent);
  const auto all = three + static_cast<double>(report.classes.at(1).sent);
  EXPECT_NEAR(three / all, 0.75, 5.0 * std::sqrt(0.75 * 0.25 / all));
}

// A server that answers nobody for a while, and what it knows of that.
class StallingServer {
 public:
  static constexpr std::size_t kStallAt = 50;

  std::optional<Bytes> answer(const Request& request) {
    if (++seen_ == kStallAt) {
      begin_ns = now_ns();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      end_ns = now_ns();
    }
    return response_to(request);
  }

  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

 private:
  std::size_t seen_ = 0;
};

TEST(LoadOpenLoop, LatenciesHoldTheWholeStallOfAServer) {
  StallingServer stalling;
  TestServer server([&](const Request& request) { return stalling.answer(request); });
  constexpr std::size_t kConnections = 4;
  Settings settings = one_class(server, kConnections);
  settings.rate_per_s = 4000.0;
  const Report report = run_until(server, settings, 2000);
  // All that was due within the stall waited for its end, whenever it was sent.
  const std::int64_t half_ns = (stalling.end_ns - stalling.begin_ns) / 2;
  std::int64_t due_in_first_half = 0;
  double waited_us = 0.0;
  for (const Request& one : server.requests()) {
    const auto due_ns = static_cast<std::int64_t>(one.header.sent_ns);
    if (due_ns <= stalling.begin_ns || due_ns >= stalling.end_ns) continue;
    waited_us += static_cast<double>(whole_us(stalling.end_ns - due_ns));
    due_in_first_half += due_ns <= stalling.end_ns - half_ns ? 1 : 0;
  }
  const HistogramCounts& latency_us = report.classes.at(0).latency_us;
  EXPECT_GT(due_in_first_half, 100);  // a loop that waits for answers has one a connection
  EXPECT_GE(observations(latency_us, whole_us(half_ns)), due_in_first_half);
  EXPECT_GE(latency_us.total, waited_us);
}

bool is_calm(const Report& report, std::uint64_t least_sent) {
  const ClassReport& only = report.classes.at(0);
  return only.sent >= least_sent && only.completed == only.sent && report.backlog == 0;
}

TEST(LoadOpenLoop, WhatWasDueWhileTheLoopStoodStillIsSentAndCountedFromThen) {
  TestServer server(echo);
  Settings settings = one_class(server, 4);
  settings.rate_per_s = 4000.0;
  LoadGenerator generator(settings);
  std::thread loop([&] { generator.run(); });
  server.await(50);
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t sent_before = 0;
  {
    const HeldThread held(loop.native_handle());
    sent_before = generator.report().classes.at(0).sent;
    begin_ns = now_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    generator.set_rate(0.001);  // for what comes after; what was due is due
    end_ns = now_ns();
  }
  for (int i = 0; i < 5'000 && !is_calm(generator.report(), sent_before + 100); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  generator.request_stop();
  loop.join();
  std::int64_t due = 0;
  for (const Request& one : server.requests()) {
    const auto due_ns = static_cast<std::int64_t>(one.header.sent_ns);
    due += due_ns > begin_ns && due_ns <= begin_ns + (end_ns - begin_ns) / 2 ? 1 : 0;
  }
  EXPECT_GT(due, 100);
  const auto half_us = whole_us((end_ns - begin_ns) / 2);
  EXPECT_GE(observations(generator.report().classes.at(0).latency_us, half_us), due);
}

}  // namespace
}  // namespace poolpilot::load
