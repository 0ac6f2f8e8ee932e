// Which request of a live pool is served first: by its class, by its session, by the weights in
// force.
#include <gtest/gtest.h>
#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/queues/queue_plan.hpp"

namespace poolpilot {
namespace {

using Order = std::vector<std::size_t>;

// One group whose only worker serves one request at a time: the listener takes none, and no tick
// comes before the test is over.
LivePoolSettings one_worker(const QueueSettings& queues) {
  LivePoolSettings settings = small_pool();
  settings.tuple.pool_size = 1;
  settings.tuple.timer_interval_ms = 600'000;
  settings.knobs.group.dedicated_listener = true;
  settings.queues = queues;
  return settings;
}

QueueSettings three_classes(ClassKnown known) {
  QueueSettings queues = by_class(Discipline::kPriority, {{}, {}, {}});
  queues.class_known = known;
  return queues;
}

class LiveQueuesTest : public testing::Test {
 protected:
  void start(const LivePoolSettings& settings) {
    clients.clear();
    busy.reset();
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  // One whose login is over.
  std::unique_ptr<LiveClient> logged_in() const {
    auto one = std::make_unique<LiveClient>(pool->address());
    one->call(1, {});
    return one;
  }

  LiveClient& client() {
    clients.push_back(logged_in());
    return *clients.back();
  }

  // The clients, by number, in the order in which their queued requests are answered; a client's
  // request is of the class that stands at its place. Where two answers were found at once, because
  // this thread had no processor, the order is not known and they are asked again.
  Order served(const std::vector<std::uint16_t>& classes) {
    std::optional<Order> order;
    while (!order && !HasFailure()) order = served_once(classes);
    return order.value_or(Order{});
  }

  double gauge(const std::string& name) { return pool->snapshot().gauges.at(name); }

  std::unique_ptr<LivePool> pool;
  std::vector<std::unique_ptr<LiveClient>> clients;
  std::unique_ptr<LiveClient> busy;  // it stays: a connection that ends is queued like a request

 private:
  std::optional<Order> served_once(const std::vector<std::uint16_t>& classes) {
    if (!busy) busy = logged_in();
    const auto taken = [this] { return pool->snapshot().counters.at("dequeues_worker"); };
    const double before = taken();
    busy->send_request(2, {silent(200'000)});
    EXPECT_TRUE(eventually([&] { return taken() == before + 1; }));
    for (std::size_t i = 0; i < classes.size(); ++i) {
      clients[i]->send_request(2, {silent(20'000)}, classes[i]);
      EXPECT_TRUE(eventually([&] { return gauge("queue_length") == static_cast<double>(i + 1); }));
    }
    busy->read();
    Order order;
    bool known = true;
    while (order.size() < classes.size() && !HasFailure()) {
      const Order answered = answered_now();
      known = known && answered.size() == 1;
      order.insert(order.end(), answered.begin(), answered.end());
    }
    return known ? std::optional(order) : std::nullopt;
  }

  // The clients whose answers are here, once there is one.
  Order answered_now() const {
    std::vector<pollfd> sockets;
    for (const auto& one : clients) sockets.push_back({one->fd(), POLLIN, 0});
    EXPECT_GT(poll(sockets.data(), sockets.size(), 20'000), 0);
    Order answered;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      EXPECT_TRUE(clients[i]->read().has_value());
      answered.push_back(i);
    }
    return answered;
  }
};

TEST_F(LiveQueuesTest, ClassesGoInTheOrderOfTheDisciplineHoweverTheyAreKnown) {
  for (const ClassKnown known : {ClassKnown::kPeeked, ClassKnown::kLast, ClassKnown::kDeclared}) {
    start(one_worker(three_classes(known)));
    for (const std::uint16_t class_id : std::vector<std::uint16_t>{2, 1, 0}) {
      const LiveClient& one = client();
      if (known == ClassKnown::kLast) one.call(1, {}, class_id);
      if (known == ClassKnown::kDeclared) one.call(1, {declare(class_id)}, class_id);
    }
    EXPECT_EQ(served({2, 1, 0}), (Order{2, 1, 0})) << static_cast<int>(known);
  }
}

TEST_F(LiveQueuesTest, TheClassOfTheLastRequestIsAGuess) {
  start(one_worker(three_classes(ClassKnown::kLast)));
  client().call(1, {}, 0);
  client().call(1, {}, 2);
  const auto misplaced = [this] { return pool->snapshot().counters.at("misplaced_requests"); };
  const double before = misplaced();
  EXPECT_EQ(served({2, 0}), (Order{0, 1}));  // each is taken for the other
  EXPECT_GE(misplaced(), before + 2);
}

TEST_F(LiveQueuesTest, AHeaderThatHasComeInPartIsNoClassYet) {
  start(one_worker(three_classes(ClassKnown::kPeeked)));
  const LiveClient& halting = client();
  const std::vector<std::byte> frame = encode_request({{0, 2, 0}, {}});
  halting.send_bytes({frame.begin(), frame.begin() + 5});
  EXPECT_TRUE(
      eventually([this] { return pool->snapshot().counters.at("unmapped_requests") == 1; }));
  halting.send_bytes({frame.begin() + 5, frame.end()});
  EXPECT_TRUE(halting.read().has_value());
  EXPECT_EQ(pool->snapshot().counters.at("unmapped_requests"), 1);
}

TEST_F(LiveQueuesTest, WhatNoRuleMapsIsServedLastAndCounted) {
  start(one_worker(three_classes(ClassKnown::kPeeked)));
  for (int i = 0; i < 2; ++i) client();
  EXPECT_EQ(served({7, 1}), (Order{1, 0}));
  EXPECT_GE(pool->snapshot().counters.at("unmapped_requests"), 1);
}

TEST_F(LiveQueuesTest, ASessionMayAskForHighOrLowPriority) {
  start(one_worker(QueueSettings{}));
  client().call(1, {declare(kClasses, SessionPriority::kLow), begin()});
  client();
  client().call(1, {declare(kClasses, SessionPriority::kHigh)});
  EXPECT_EQ(served({0, 0, 0}), (Order{2, 0, 1}));
}

TEST_F(LiveQueuesTest, WeightsChangeWhileServing) {
  QueueSettings queues = weighted(Discipline::kWeighted, {1.0, 0.0});
  queues.class_known = ClassKnown::kPeeked;
  start(one_worker(queues));
  for (int i = 0; i < 2; ++i) client();
  EXPECT_EQ(served({1, 0}), (Order{1, 0}));
  PoolKnobs knobs = pool->knobs();
  knobs.weights = {0.0, 1.0};
  pool->set_knobs(knobs);
  EXPECT_EQ(served({1, 0}), (Order{0, 1}));
}

TEST_F(LiveQueuesTest, WithoutWeightsThoseOfTheSettingsHoldAgain) {
  QueueSettings queues = weighted(Discipline::kWeighted, {1.0, 0.0});
  queues.class_known = ClassKnown::kPeeked;
  LivePoolSettings settings = one_worker(queues);
  settings.knobs.weights = {0.0, 1.0};
  start(settings);
  for (int i = 0; i < 2; ++i) client();
  EXPECT_EQ(served({1, 0}), (Order{0, 1}));
  PoolKnobs knobs = pool->knobs();
  knobs.weights.clear();
  pool->set_knobs(knobs);
  EXPECT_EQ(served({1, 0}), (Order{1, 0}));
}

// Six that waited for admission are let in through the queue of the greatest weight. It would be
// their own queue's turn before that of the next request there if they counted as its requests.
TEST_F(LiveQueuesTest, WhoWasLetInByAdmissionCountsForItsOwnQueue) {
  QueueSettings queues = weighted(Discipline::kFair, {0.8, 0.2});
  queues.class_known = ClassKnown::kPeeked;
  LivePoolSettings settings = one_worker(queues);
  settings.knobs.admission.admission_limit = 1;
  settings.knobs.admission.admission_escape_ms = 0;
  start(settings);
  busy = logged_in();
  const std::unique_ptr<LiveClient> inside = logged_in();
  for (int i = 0; i < 6; ++i) client();
  inside->call(2, {begin()}, 1);
  for (const auto& one : clients) one->send_request(2, {}, 1);
  ASSERT_TRUE(eventually([this] { return gauge("admission_waiting") == 6; }));
  inside->call(3, {commit()}, 1);
  for (const auto& one : clients) EXPECT_TRUE(one->read().has_value());
  EXPECT_EQ(served({1, 0}), (Order{1, 0}));
}

TEST_F(LiveQueuesTest, EveryDisciplineAnswersEveryRequestUnderLoad) {
  for (std::size_t i = 0; i < kDisciplineNames.size(); ++i) {
    const auto discipline = static_cast<Discipline>(i);
    LivePoolSettings settings = small_pool();
    settings.tuple.pool_size = 2;
    if (discipline != Discipline::kMariaDb) settings.queues = weighted(discipline, {0.25, 0.75});
    if (discipline == Discipline::kImpatient) settings.queues.queues[1].deadline_ms = 1;
    settings.queues.class_known = ClassKnown::kPeeked;
    start(settings);
    for (int c = 0; c < 16; ++c) client();
    for (std::uint64_t id = 1; id <= 20; ++id) {
      for (std::size_t c = 0; c < 16; ++c) {
        clients[c]->send_request(id, {reported(200)}, static_cast<std::uint16_t>(c % 3));
      }
      for (const auto& one : clients) {
        const auto answer = one->read();
        ASSERT_TRUE(answer.has_value()) << kDisciplineNames[i];
        ASSERT_EQ(answer->request_id, id);
      }
    }
    pool->close();
    for (const EventLog& log : pool->event_logs()) EXPECT_EQ(replay(log), log.entries.size());
  }
}

}  // namespace
}  // namespace poolpilot
