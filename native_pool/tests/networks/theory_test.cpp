// The simulator's stations against queueing theory.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "networks/network.hpp"

namespace poolpilot::sim {
namespace {

constexpr std::int64_t kServices = 3'000'000;
constexpr double kClose = 0.02;

NetworkCount counted(const NetworkSpec& spec) {
  Network network(spec);
  network.run(kServices / 10);
  return network.run(kServices);
}

// Requests of class i go to queue i.
QueueSettings by_class(Discipline discipline, const std::vector<QueueSpec>& queues) {
  QueueSettings settings;
  settings.discipline = discipline;
  settings.queues = queues;
  for (int i = 0; std::cmp_less(i, queues.size()); ++i) {
    settings.rules.push_back({i, Transaction::kEither, i});
  }
  return settings;
}

double mean_stay_s(const NetworkCount& count, std::size_t station, std::size_t class_id = 0) {
  const StationCount& one = count.stations[station];
  return one.class_stay_s[class_id] / static_cast<double>(one.class_visits[class_id]);
}

double erlang_c(int channels, double load) {
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k < channels; ++k) {
    term *= load / k;
    sum += term;
  }
  const double last = term * load / channels / (1.0 - load / channels);
  return last / (sum + last);
}

TEST(Theory, ManyChannels) {
  const int channels = 4;
  const double rate = 3.2;
  const NetworkCount count =
      counted({{{Service::kQueued, channels, {1.0}, 1.0, {}}}, {rate}, {}, 1});
  const double wanted = 1.0 + erlang_c(channels, rate) / (channels - rate);
  EXPECT_NEAR(mean_stay_s(count, 0) / wanted, 1.0, kClose);
}

TEST(Theory, SharingDependsOnTheMeanAlone) {
  for (const double variation : {0.3, 1.0, 2.0}) {
    const NetworkCount count =
        counted({{{Service::kSharing, 1, {1.0}, variation, {}}}, {0.7}, {}, 2});
    EXPECT_NEAR(mean_stay_s(count, 0) * (1.0 - 0.7), 1.0, kClose) << variation;
  }
}

TEST(Theory, TwoPriorities) {
  const double urgent = 0.3;
  const double patient = 0.5;
  const NetworkCount count = counted(
      {{{Service::kQueued, 1, {1.0, 1.0}, 1.0, {}, by_class(Discipline::kPriority, {{}, {}})}},
       {urgent, patient},
       {},
       3});
  // Cobham (1954): W = R / ((1 - s_before)(1 - s_up_to)), R = total load for exponential service.
  const double residual = urgent + patient;
  EXPECT_NEAR(mean_stay_s(count, 0, 0) / (1.0 + residual / (1.0 - urgent)), 1.0, kClose);
  const double low = 1.0 + residual / ((1.0 - urgent) * (1.0 - urgent - patient));
  EXPECT_NEAR(mean_stay_s(count, 0, 1) / low, 1.0, kClose);
}

TEST(Theory, MachineRepair) {
  const int machines = 10;
  const double think = 5.0;
  const NetworkCount count = counted(
      {{{Service::kQueued, 1, {1.0}, 1.0, {0.0, 1.0}}, {Service::kDelay, 1, {think}, 1.0, {}}},
       {},
       {machines},
       4});
  // P(0) by the birth and death process of the repair shop.
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k <= machines; ++k) {
    term *= (machines - k + 1) / think;
    sum += term;
  }
  EXPECT_NEAR(count.stations[0].busy_s / count.seconds / (1.0 - 1.0 / sum), 1.0, kClose);
}

TEST(Theory, ProcessorAndTwoDisks) {
  const int population = 8;
  const NetworkCount count = counted({{{Service::kSharing, 1, {0.01}, 1.0, {0.0, 0.5, 0.4}},
                                       {Service::kQueued, 1, {0.015}, 1.0, {}},
                                       {Service::kQueued, 1, {0.03}, 1.0, {}}},
                                      {},
                                      {population},
                                      5});
  // Mean value analysis (Reiser and Lavenberg, 1980) for the demands of a visit to the processor.
  const double demands[] = {0.01, 0.5 * 0.015, 0.4 * 0.03};
  double queue[] = {0.0, 0.0, 0.0};
  double rate = 0.0;
  for (int n = 1; n <= population; ++n) {
    double total = 0.0;
    double stay[3];
    for (int i = 0; i < 3; ++i) {
      stay[i] = demands[i] * (1.0 + queue[i]);
      total += stay[i];
    }
    rate = n / total;
    for (int i = 0; i < 3; ++i) queue[i] = rate * stay[i];
  }
  EXPECT_NEAR(static_cast<double>(count.stations[0].visits) / count.seconds / rate, 1.0, kClose);
}

TEST(Theory, NonsenseIsRefusedByName) {
  EXPECT_THROW(Network({{}, {1.0}, {}, 0}), std::invalid_argument);
  EXPECT_THROW(Network({{{Service::kQueued, 0, {1.0}, 1.0, {}}}, {1.0}, {}, 0}),
               std::invalid_argument);
  EXPECT_THROW(Network({{{Service::kQueued, 1, {NAN}, 1.0, {}}}, {1.0}, {}, 0}),
               std::invalid_argument);
  EXPECT_THROW(Network({{{Service::kQueued, 1, {1.0}, 1.0, {0.7, 0.7}}}, {1.0}, {}, 0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace poolpilot::sim
