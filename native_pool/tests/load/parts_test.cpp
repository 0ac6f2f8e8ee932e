// Several generators that send the parts of one load.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "load/generator.hpp"
#include "load/program.hpp"
#include "tests/load/test_server.hpp"

namespace poolpilot::load {
namespace {

Settings three_classes(const TestServer& server, std::size_t connections) {
  Settings settings;
  settings.address = server.address();
  settings.connections = connections;
  settings.ramp_s = 0.01;
  settings.drain_timeout_s = 0.05;
  settings.classes = {{"most", {}, 5.0}, {"some", {}, 2.0}, {"few", {}, 1.0}};
  return settings;
}

// Runs all parts until the server has seen `requests`.
std::vector<Report> run_parts(TestServer& server, Settings settings, std::size_t parts,
                              std::size_t requests) {
  std::vector<std::unique_ptr<LoadGenerator>> generators;
  for (std::size_t part = 0; part < parts; ++part) {
    settings.part = {part, parts};
    generators.push_back(std::make_unique<LoadGenerator>(settings));
    generators.back()->connect();
  }
  std::vector<std::thread> loops;
  for (const auto& one : generators) loops.emplace_back([&one] { one->run(); });
  server.await(requests);
  for (const auto& one : generators) one->request_stop();
  for (std::thread& loop : loops) loop.join();
  std::vector<Report> reports;
  for (const auto& one : generators) reports.push_back(one->report());
  return reports;
}

TEST(LoadParts, ConnectionsAndTheirClassesAreDealtExactly) {
  constexpr std::size_t kConnections = 29;
  for (const std::size_t parts : {1U, 2U, 3U, 29U}) {
    // Without an answer every connection sends one request.
    TestServer server([](const Request&) { return Bytes(); });
    const Settings whole = three_classes(server, kConnections);
    run_parts(server, whole, parts, kConnections);
    std::map<std::uint16_t, int> by_class;
    for (const Request& one : server.requests()) ++by_class[one.header.class_id];
    std::map<std::uint16_t, int> dealt;
    for (const auto id : deal_connections(whole.classes, kConnections, whole.seed)) ++dealt[id];
    EXPECT_EQ(by_class, dealt) << parts;
  }
}

TEST(LoadParts, ReportsAddUpAndNoIdIsUsedTwice) {
  TestServer server(echo);
  Settings settings = three_classes(server, 10);
  settings.drain_timeout_s = 10.0;
  std::uint64_t completed = 0;
  for (const Report& report : run_parts(server, settings, 4, 2000)) {
    for (const ClassReport& one : report.classes) {
      EXPECT_EQ(one.sent, one.completed);
      completed += one.completed;
    }
  }
  std::set<std::uint64_t> ids;
  const std::vector<Request> requests = server.requests();
  for (const Request& one : requests) ids.insert(one.header.request_id);
  EXPECT_EQ(completed, requests.size());
  EXPECT_EQ(ids.size(), requests.size());
}

TEST(LoadParts, TogetherTheyArriveAtTheRateOfTheWhole) {
  TestServer server(echo);
  Settings settings = three_classes(server, 7);  // shares of 3, 2 and 2
  settings.rate_per_s = 20'000.0;
  settings.drain_timeout_s = 10.0;
  run_parts(server, settings, 3, 6000);
  std::vector<std::vector<std::uint64_t>> stamps(3);  // by part, told by the request's id
  for (const Request& one : server.requests()) {
    stamps[(one.header.request_id - 1) % 3].push_back(one.header.sent_ns);
  }
  // Between the first arrival of the last part to begin and the last of the first to stop.
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = UINT64_MAX;
  for (auto& part : stamps) {
    std::sort(part.begin(), part.end());
    begin_ns = std::max(begin_ns, part.front());
    end_ns = std::min(end_ns, part.back());
  }
  const double seconds = static_cast<double>(end_ns - begin_ns) / 1e9;
  const std::vector<double> rates{20'000.0 * 3 / 7, 20'000.0 * 2 / 7, 20'000.0 * 2 / 7};
  for (std::size_t part = 0; part < 3; ++part) {
    const auto arrivals = std::count_if(stamps[part].begin(), stamps[part].end(), [&](auto time) {
      return time >= begin_ns && time <= end_ns;
    });
    EXPECT_GT(arrivals, 500);
    EXPECT_NEAR(static_cast<double>(arrivals), rates[part] * seconds,
                5.0 * std::sqrt(rates[part] * seconds) + 2);
  }
}

TEST(LoadParts, WholeNumbersAreDealtExactly) {
  for (const std::size_t whole : {1U, 5U, 64U, 1000U, 65'536U}) {
    for (const std::size_t parts : {1U, 2U, 3U, 5U, 64U}) {
      std::set<std::size_t> numbers;
      for (std::size_t part = 0; part < parts; ++part) {
        const Part one{part, parts};
        for (std::size_t i = 0; i < one.share_of(whole); ++i) numbers.insert(one.in_whole(i));
      }
      EXPECT_EQ(numbers.size(), whole);
      EXPECT_EQ(*numbers.rbegin(), whole - 1);
    }
  }
}

TEST(LoadParts, TheWholeDrawsFromTheStreamsOfOldAndEveryPartFromItsOwn) {
  for (std::uint32_t stream = 0; stream < 200; ++stream) {
    EXPECT_EQ(Part().stream(stream), stream);
  }
  const ClassSpec spec{"drawn", {{.op = Op::kCpu, .us = 500, .variation = 1.0}}};
  std::set<std::uint32_t> first_values;
  for (std::size_t part = 0; part < 64; ++part) {
    Program program(spec, 0, 7, {part, 64});
    Request request;
    decode_request(program.next(), request);
    first_values.insert(request.steps[0].value);
  }
  EXPECT_GT(first_values.size(), 55U);  // whole microseconds may meet by chance
}

}  // namespace
}  // namespace poolpilot::load
