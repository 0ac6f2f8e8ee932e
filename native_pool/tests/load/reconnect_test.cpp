// A connection for every request.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "load/generator.hpp"
#include "system/clock.hpp"
#include "tests/load/small_load.hpp"

namespace poolpilot::load {
namespace {

Settings reconnecting(const TestServer& server, std::size_t connections) {
  Settings settings = one_class(server, connections);
  settings.reconnect = true;
  return settings;
}

class LoadReconnect : public testing::TestWithParam<bool> {};

TEST_P(LoadReconnect, EveryRequestHasAConnectionOfItsOwn) {
  TestServer server(echo, GetParam());
  const Report report = run_until(server, reconnecting(server, 8), 500);
  const ClassReport& only = report.classes.at(0);
  EXPECT_EQ(only.sent, only.completed);
  EXPECT_GE(only.completed, 500U);
  EXPECT_EQ(server.accepted(), only.sent + 1);  // and one that showed there is a server
  EXPECT_EQ(report.connections, 0U);
  EXPECT_TRUE(report.errors.empty());
}

TEST_P(LoadReconnect, AnOpenLoopReconnectsToo) {
  TestServer server(echo, GetParam());
  Settings settings = reconnecting(server, 8);
  settings.rate_per_s = 2000.0;
  const Report report = run_until(server, settings, 300);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
  EXPECT_EQ(server.accepted(), report.classes.at(0).sent + 1);
}

TEST_P(LoadReconnect, TheLatencyBeginsBeforeTheConnect) {
  // Nobody accepts while the first request is served, and the queue has room for a few.
  constexpr std::size_t kClients = 40;
  std::int64_t end_ns = 0;
  TestServer server(
      [&end_ns](const Request& request) {
        if (end_ns == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          end_ns = now_ns();
        }
        return std::optional(response_to(request));
      },
      GetParam(), 2);
  Settings settings = reconnecting(server, kClients);
  settings.ramp_s = 0.0;
  const Report report = run_until(server, settings, 2 * kClients);
  std::size_t begun_before = 0;
  double waited_us = 0.0;
  for (const Request& one : server.requests()) {
    const auto begun_ns = static_cast<std::int64_t>(one.header.sent_ns);
    if (begun_ns >= end_ns) continue;
    ++begun_before;
    waited_us += static_cast<double>(whole_us(end_ns - begun_ns));
  }
  EXPECT_GE(begun_before, kClients);
  EXPECT_GE(report.classes.at(0).latency_us.total, waited_us);
  EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
}

TEST_P(LoadReconnect, AClosedConnectionCostsOneRequestAndNotItsClient) {
  TestServer server(
      [](const Request& request) {
        return request.header.request_id <= 4 ? std::nullopt : std::optional(response_to(request));
      },
      GetParam());
  const Report report = run_until(server, reconnecting(server, 4), 300);
  const ClassReport& only = report.classes.at(0);
  EXPECT_EQ(only.lost, 4U);
  EXPECT_EQ(only.undelivered, 0U);
  EXPECT_EQ(only.sent, only.completed + only.lost);
  EXPECT_EQ(report.errors.at("closed_by_server"), 4U);
}

TEST_P(LoadReconnect, AServerThatIsGoneIsToldByTheFault) {
  auto server = std::make_unique<TestServer>(echo, GetParam());
  LoadGenerator generator(reconnecting(*server, 4));
  std::thread loop([&] { generator.run(); });
  server->await(50);
  server.reset();
  const auto refused = [&] {
    const Report report = generator.report();
    const auto fault = report.errors.find("not_connected");
    return fault == report.errors.end() ? 0 : fault->second;
  };
  for (int i = 0; i < 5'000 && refused() < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  generator.request_stop();
  loop.join();
  EXPECT_GE(refused(), 20U);
  const ClassReport only = generator.report().classes.at(0);
  EXPECT_EQ(only.sent, only.completed + only.lost);
  EXPECT_GE(only.undelivered, 20U);
  EXPECT_LE(only.undelivered, only.lost);
}

INSTANTIATE_TEST_SUITE_P(BothSockets, LoadReconnect, testing::Values(false, true),
                         [](const auto& local) { return local.param ? "Unix" : "Tcp"; });

// Connections to any port of this host that the system remembers after they were closed.
std::size_t remembered(const std::string& host) {
  in_addr parsed{};
  EXPECT_EQ(inet_pton(AF_INET, host.c_str(), &parsed), 1);
  std::ostringstream remote_host;  // as the table has it
  remote_host << std::hex << std::uppercase << std::setfill('0') << std::setw(8) << parsed.s_addr;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);  // the heading
  std::size_t count = 0;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    fields >> number >> local >> remote >> state;
    count += remote.starts_with(remote_host.str() + ":") && state == "06" ? 1U : 0U;
  }
  return count;
}

// A loopback address of this process alone: tests beside it, and the run before, leave hundreds of
// ports in that state.
std::string own_host(int network) {
  const int process = getpid();
  return "127." + std::to_string(network) + "." + std::to_string(process >> 8 & 0xff) + "." +
         std::to_string(process & 0xff);
}

TEST(LoadReset, AResetKeepsNoPortInTimeWait) {
  for (const bool reset : {true, false}) {
    const std::string host = own_host(reset ? 84 : 85);
    TestServer server(echo, false, 1024, host);
    Settings settings = reconnecting(server, 4);
    settings.reset_on_close = reset;
    const std::size_t before = remembered(host);  // of a repetition in this process
    const Report report = run_until(server, settings, 200);
    EXPECT_EQ(report.classes.at(0).sent, report.classes.at(0).completed);
    if (reset) {
      EXPECT_LE(remembered(host), before + 1U);  // the connect that showed there is a server
    } else {
      EXPECT_GE(remembered(host), before + 100U);
    }
  }
}

}  // namespace
}  // namespace poolpilot::load
