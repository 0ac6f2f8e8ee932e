// Multi-class networks, preemptive service and hyperexponential times against queueing theory.
#include "networks/network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace poolpilot::sim {
namespace {

constexpr std::int64_t kServices = 2'000'000;
constexpr double kClose = 0.03;

NetworkCount counted(const NetworkSpec& spec) {
  Network network(spec);
  network.run(kServices / 10);
  return network.run(kServices);
}

StationSpec preemptive(std::vector<double> mean_s, std::vector<double> weights,
                       double queue_power = 0.0) {
  StationSpec station{Service::kPreemptive, 1, std::move(mean_s), 1.0, {}};
  station.claims = {std::move(weights), queue_power};
  return station;
}

double mean_number(const NetworkCount& count, std::size_t station, std::size_t class_id) {
  return count.stations[station].class_present_s[class_id] / count.seconds;
}

// Two classes at one server, whose loads are 0.3 and 0.4.
NetworkCount two_classes(std::vector<double> weights, double queue_power) {
  return counted({{preemptive({1.0, 1.0}, std::move(weights), queue_power)}, {0.3, 0.4}, {}, 1});
}

TEST(PreemptiveStation, TheGreatestClaimInterruptsAllOthers) {
  // Cox and Smith: as if the lower class were not there, and L2 = total - L1.
  const NetworkCount count = two_classes({1.0, 2.0}, 0.0);
  const double urgent = 0.4 / 0.6;
  EXPECT_NEAR(mean_number(count, 0, 1) / urgent, 1.0, kClose);
  EXPECT_NEAR(mean_number(count, 0, 0) / (0.7 / 0.3 - urgent), 1.0, kClose);
}

TEST(PreemptiveStation, ALongQueueRaisesTheClaim) {
  const NetworkCount by_weight = two_classes({1.0, 2.0}, 0.0);
  const NetworkCount by_length = two_classes({1.0, 2.0}, 1.0);
  EXPECT_LT(mean_number(by_length, 0, 0), 0.9 * mean_number(by_weight, 0, 0));
  EXPECT_GT(mean_number(by_length, 0, 1), 1.1 * mean_number(by_weight, 0, 1));
  const double total = mean_number(by_length, 0, 0) + mean_number(by_length, 0, 1);
  EXPECT_NEAR(total / (0.7 / 0.3), 1.0, kClose);
}

TEST(PreemptiveStation, TheLongestQueueIsServedWhereWeightsAreEqual) {
  Network network({{preemptive({1.0, 1.0}, {1.0, 1.0}, 1.0)}, {0.6, 0.6}, {}, 2});
  const NetworkCount count = network.run(100'000);  // overloaded: both grow
  EXPECT_NEAR(mean_number(count, 0, 0) / mean_number(count, 0, 1), 1.0, 0.01);
}

TEST(PreemptiveStation, InterruptedWorkIsResumed) {
  StationSpec station = preemptive({1.0, 0.2}, {0.0, 1.0});
  station.variation = 0.0;
  const NetworkCount count = counted({{station}, {0.4, 2.0}, {}, 3});
  EXPECT_NEAR(count.stations[0].busy_s / count.seconds, 0.4 + 2.0 * 0.2, 0.005);
  EXPECT_NEAR(static_cast<double>(count.stations[0].class_visits[0]) / count.seconds, 0.4, 0.005);
}

TEST(HyperexponentialService, WaitsAsPollaczekAndKhinchineSay) {
  const double load = 0.6;
  const double spread = 0.8;
  StationSpec station{Service::kQueued, 1, {1.0}, 1.0, {}};
  station.spread = spread;
  const NetworkCount count = counted({{station}, {load}, {}, 4});
  const double second_moment = 2.0 * (1.0 + spread * spread);
  const double wait_s =
      count.stations[0].class_wait_s[0] / static_cast<double>(count.stations[0].visits);
  EXPECT_NEAR(wait_s / (load * second_moment / (2.0 * (1.0 - load))), 1.0, kClose);
}

TEST(MultiClassNetwork, AJacksonTandemHasItsProductForm) {
  const NetworkCount count = counted(
      {{{Service::kQueued, 1, {0.6, 0.0}, 1.0, {}}, {Service::kQueued, 1, {0.0, 0.7}, 1.0, {}}},
       {1.0, 0.0},
       {},
       5,
       {{0, 1}, {{0.0, 1.0}, {}}}});
  EXPECT_NEAR(mean_number(count, 0, 0) / (0.6 / 0.4), 1.0, kClose);
  EXPECT_NEAR(mean_number(count, 1, 1) / (0.7 / 0.3), 1.0, kClose);
}

// Class 0 is served at station 0, then as class 1 at station 1, then as class 2 at station 0.
NetworkSpec reentrant_line() {
  return {{preemptive({0.3, 0.0, 0.3}, {2.0, 0.0, 1.0}),
           {Service::kQueued, 1, {0.0, 0.5, 0.0}, 1.0, {}}},
          {1.0, 0.0, 0.0},
          {},
          6,
          {{0, 1, 0}, {{0.0, 1.0}, {0.0, 0.0, 1.0}, {}}}};
}

TEST(MultiClassNetwork, CustomersGoOnAsTheirNextClass) {
  const NetworkCount count = counted(reentrant_line());
  const StationCount& first = count.stations[0];
  const StationCount& second = count.stations[1];
  EXPECT_EQ(first.class_visits[1], 0);
  EXPECT_EQ(second.class_visits[0] + second.class_visits[2], 0);
  for (const std::int64_t visits :
       {first.class_visits[0], second.class_visits[1], first.class_visits[2]}) {
    EXPECT_NEAR(static_cast<double>(visits) / count.seconds, 1.0, 0.01);
  }
  // Little's law.
  const double stay_s = first.class_stay_s[2] / static_cast<double>(first.class_visits[2]);
  EXPECT_NEAR(mean_number(count, 0, 2) / stay_s, 1.0, 0.01);
}

TEST(MultiClassNetwork, RunsForSoManyEventsFromAnEmptyNetwork) {
  Network network(reentrant_line());
  const NetworkCount count = network.run(Network::kNoLimit, 1'000);
  EXPECT_EQ(count.events, 1'000);
  std::int64_t visits = 0;
  for (const StationCount& station : count.stations) visits += station.visits;
  EXPECT_LT(visits, 1'000);
  EXPECT_GT(visits, 700);  // three services an arrival
}

TEST(ClosedNetwork, AChannelIsBusyWhileItServesAndNotBefore) {
  for (const Service service : {Service::kQueued, Service::kDelay, Service::kSharing}) {
    Network network(
        {{{service, 1, {1.0}, 0.0, {0.0, 1.0}}, {service, 1, {1000.0}, 0.0, {}}}, {}, {1}, 7});
    const NetworkCount first = network.run(1);
    EXPECT_EQ(first.seconds, 1.0);
    EXPECT_EQ(first.stations[0].busy_s, 1.0);
    EXPECT_EQ(first.stations[1].busy_s, 0.0);
    const NetworkCount second = network.run(1);
    EXPECT_EQ(second.seconds, 1000.0);
    EXPECT_EQ(second.stations[0].busy_s, 0.0);
    EXPECT_EQ(second.stations[1].busy_s, 1000.0);
  }
}

TEST(ClosedNetwork, BusyTimeIsThatOfAllChannels) {
  Network network({{{Service::kQueued, 2, {2.0}, 0.0, {}}}, {}, {3}, 8});
  const NetworkCount count = network.run(3);
  EXPECT_EQ(count.seconds, 4.0);
  EXPECT_EQ(count.stations[0].busy_s, 8.0);
}

TEST(ClosedNetwork, TheClockEndsWhateverTheService) {
  for (const Service service : {Service::kQueued, Service::kDelay, Service::kSharing}) {
    Network network({{{service, 1, {1e6}, 0.0, {}}}, {}, {1}, 9});
    EXPECT_THROW(network.run(10'000), std::overflow_error);
  }
}

// Thirty thousand years of it.
TEST(PreemptiveServer, WorkThatLastsLongerThanTheClockIsStillToCome) {
  PreemptiveServer server({{1.0}, 0.0});
  server.start(5, 1, 0, 1e21);
  EXPECT_EQ(server.next_ns(), TimeNs{4'000'000'000'000'000'005});
}

void expect_refused(const NetworkSpec& spec, const std::string& sentence) {
  try {
    const Network network(spec);
    ADD_FAILURE() << "taken, but: " << sentence;
  } catch (const std::invalid_argument& refusal) {
    EXPECT_EQ(std::string(refusal.what()).substr(0, sentence.size()), sentence);
  }
}

NetworkSpec changed(const std::function<void(NetworkSpec&)>& change) {
  NetworkSpec spec = reentrant_line();
  change(spec);
  return spec;
}

TEST(MultiClassNetwork, NonsenseIsRefusedByName) {
  expect_refused(changed([](NetworkSpec& spec) { spec.routes.places = {0, 2, 0}; }),
                 "place is 2, but must be in 0..1");
  expect_refused(changed([](NetworkSpec& spec) { spec.routes.places.pop_back(); }),
                 "number of places is 2, but must be 3, one for each class");
  expect_refused(changed([](NetworkSpec& spec) { spec.routes.becomes.pop_back(); }),
                 "number of rows of becomes is 2, but must be 3, one for each class");
  expect_refused(changed([](NetworkSpec& spec) { spec.routes.becomes[0] = {0.6, 0.6}; }),
                 "sum of becomes is 1.2, but must be at most 1");
  expect_refused(changed([](NetworkSpec& spec) { spec.routes.places.clear(); }),
                 "becomes needs the places of all classes");
  expect_refused(changed([](NetworkSpec& spec) { spec.stations[1].mean_s[0] = 1.0; }),
                 "mean_s is 1, but must be 0 where a class has no place");
  expect_refused(changed([](NetworkSpec& spec) { spec.stations[1].next = {1.0}; }),
                 "next must be empty where classes have places");
  expect_refused(changed([](NetworkSpec& spec) { spec.stations[0].claims.weights.pop_back(); }),
                 "number of weights is 2, but must be 3, one for each class");
  expect_refused(changed([](NetworkSpec& spec) { spec.stations[0].channels = 2; }),
                 "channels of a preemptive station is 2, but must be in 1..1");
  expect_refused(changed([](NetworkSpec& spec) { spec.stations[0].claims.queue_power = -1.0; }),
                 "queue_power is -1, but must be in 0..10");
  expect_refused(
      changed([](NetworkSpec& spec) { spec.stations[1].claims.weights = {1.0, 1.0, 1.0}; }),
      "number of weights is 3, but must be 0 where the service is not preemptive");
  expect_refused(changed([](NetworkSpec& spec) { spec.stations[1].spread = 1.5; }),
                 "spread is 1.5, but must be in 0..1");
}

}  // namespace
}  // namespace poolpilot::sim
