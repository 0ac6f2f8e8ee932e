// Admission in the live pool, as its clients see it. POOLPILOT_CHANGES sets the changes of the
// limit under load (200).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

class LiveAdmission : public testing::Test {
 protected:
  void start(int limit, int escape_ms = 0, int queue_limit = 0) {
    LivePoolSettings settings = small_pool();
    settings.knobs.admission = {limit, escape_ms, queue_limit};
    settings.executor.latch_timeout_s = 60.0;
    start(settings);
  }

  void start(const LivePoolSettings& settings) {
    pool = std::make_unique<LivePool>(settings);
    pool->start();
  }

  void set_limit(int limit) {
    PoolKnobs knobs = pool->knobs();
    knobs.admission.admission_limit = limit;
    pool->set_knobs(knobs);
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }
  double gauge(const std::string& name) { return pool->snapshot().gauges.at(name); }

  std::unique_ptr<LiveClient> client() { return std::make_unique<LiveClient>(pool->address()); }

  // A client whose transaction stays open.
  std::unique_ptr<LiveClient> client_inside() {
    auto inside = client();
    EXPECT_EQ(inside->call(1, {begin()}).value().status, Status::kOk);
    return inside;
  }

  // Sends a request that must wait, and returns once it does.
  std::unique_ptr<LiveClient> client_waiting(const std::vector<Step>& steps) {
    const double before = gauge("admission_waiting");
    auto waiting = client();
    waiting->send_request(1, steps);
    EXPECT_TRUE(eventually([&] { return gauge("admission_waiting") == before + 1; }));
    return waiting;
  }

  bool nobody_is_left() {
    return eventually(
        [this] { return gauge("admission_inside") == 0 && gauge("admission_waiting") == 0; });
  }

  std::unique_ptr<LivePool> pool;
};

TEST_F(LiveAdmission, WithoutALimitNobodyIsCounted) {
  start(0);
  EXPECT_EQ(client()->call(1, {cpu(1)}).value().status, Status::kOk);
  EXPECT_EQ(counter("admission_admitted"), 0);
  EXPECT_EQ(gauge("admission_limit"), 0);
}

TEST_F(LiveAdmission, ARequestOutsideATransactionIsOneOfItsOwn) {
  start(1);
  const auto talking = client();
  for (std::uint64_t id = 1; id <= 20; ++id) {
    ASSERT_EQ(talking->call(id, {cpu(1)}).value().status, Status::kOk);
    EXPECT_EQ(gauge("admission_inside"), 0);
  }
  EXPECT_EQ(counter("admission_admitted"), 20);
  EXPECT_EQ(counter("admission_parked"), 0);
}

TEST_F(LiveAdmission, TransactionsEnterInTheOrderInWhichTheyCame) {
  start(1);
  auto inside = client_inside();
  std::vector<std::unique_ptr<LiveClient>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(client_waiting({begin()}));
  for (auto& next : waiting) {
    EXPECT_EQ(inside->call(2, {commit()}).value().status, Status::kOk);
    EXPECT_EQ(next->read().value().status, Status::kOk);
    EXPECT_EQ(gauge("admission_inside"), 1);
    inside = std::move(next);
  }
  inside->call(2, {commit()});
  EXPECT_TRUE(nobody_is_left());
  EXPECT_EQ(counter("admission_parked"), 5);
  const PoolSnapshot snapshot = pool->snapshot();
  std::int64_t waited = 0;
  for (const std::int64_t count : snapshot.histograms.at("admission_wait_us").counts) {
    waited += count;
  }
  EXPECT_EQ(waited, 5);
}

TEST_F(LiveAdmission, ThoseThatWaitHoldNoThread) {
  LivePoolSettings settings = small_pool();
  settings.tuple = {1, 1, 3'600'000, true, 60.0};  // no tick will ever help
  settings.knobs.max_threads = 2;
  settings.knobs.admission.admission_limit = 1;
  start(settings);
  const auto inside = client_inside();
  std::vector<std::unique_ptr<LiveClient>> waiting;
  for (int i = 0; i < 40; ++i) waiting.push_back(client_waiting({cpu(1)}));
  EXPECT_LE(gauge("threads"), 2);
  for (std::uint64_t id = 2; id <= 20; ++id) ASSERT_TRUE(inside->call(id, {cpu(1)}).has_value());
  EXPECT_EQ(gauge("admission_waiting"), 40);
  inside->call(21, {commit()});
  for (const auto& one : waiting) EXPECT_EQ(one->read().value().status, Status::kOk);
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(LiveAdmission, PlacesGoRoundAmongGroupsWithoutATick) {
  LivePoolSettings settings = small_pool();
  settings.tuple = {8, 3, 3'600'000, true, 60.0};
  settings.knobs.admission.admission_limit = 1;
  start(settings);
  const auto inside = client_inside();
  std::vector<std::unique_ptr<LiveClient>> waiting;
  for (int i = 0; i < 24; ++i) waiting.push_back(client_waiting({silent(100)}));
  inside->call(2, {commit()});
  for (const auto& one : waiting) EXPECT_EQ(one->read().value().status, Status::kOk);
}

std::int64_t arrivals(const EventLog& log) {
  return std::ranges::count_if(
      log.entries, [](const auto& one) { return one.event.kind == EventKind::kArrived; });
}

TEST_F(LiveAdmission, WhoIsLetInIsServedByTheGroupWhoseThreadHasJustLeft) {
  LivePoolSettings settings = small_pool();
  settings.tuple.pool_size = 2;
  settings.knobs.admission.admission_limit = 1;
  start(settings);
  const auto inside = client_inside();            // of the first group
  const auto waiting = client_waiting({cpu(1)});  // of the second
  inside->call(2, {commit()});
  EXPECT_EQ(waiting->read().value().status, Status::kOk);
  EXPECT_EQ(waiting->call(2, {cpu(1)}).value().status, Status::kOk);  // at home again
  pool->close();
  EXPECT_EQ(arrivals(pool->event_logs()[0]), 1 + 1);  // its own login, and the guest
  EXPECT_EQ(arrivals(pool->event_logs()[1]), 1);
}

TEST_F(LiveAdmission, ALongTransactionGivesItsPlaceAway) {
  start(1, 50);
  const auto hanging = client_inside();
  EXPECT_EQ(client()->call(1, {cpu(1)}).value().status, Status::kOk);
  EXPECT_EQ(counter("admission_escaped"), 1);
  EXPECT_EQ(hanging->call(2, {cpu(1)}).value().status, Status::kOk);
  EXPECT_EQ(hanging->call(3, {commit()}).value().status, Status::kOk);
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(LiveAdmission, WhoFindsTheQueueFullMayTryAgain) {
  start(1, 0, 1);
  const auto inside = client_inside();
  const auto waiting = client_waiting({acquire(1), release(1)});
  const auto refused = client();
  EXPECT_EQ(refused->call(7, {begin(), acquire(1)}).value().status, Status::kRefused);
  EXPECT_EQ(counter("admission_refused"), 1);
  EXPECT_EQ(counter("completed"), 1);
  EXPECT_EQ(counter("failed"), 0);
  inside->call(2, {commit()});
  EXPECT_EQ(waiting->read().value().status, Status::kOk);  // nothing of the refused one was run
  EXPECT_EQ(refused->call(8, {begin(), acquire(1)}).value().status, Status::kOk);
}

TEST_F(LiveAdmission, AnExemptClassNeedsNoPlace) {
  LivePoolSettings settings = small_pool();
  settings.knobs.admission = {1, 0, 1, 1};
  start(settings);
  const auto inside = client_inside();
  const auto waiting = client_waiting({cpu(1)});
  const auto other = client();
  EXPECT_EQ(other->call(1, {cpu(1)}, 0).value().status, Status::kRefused);
  EXPECT_EQ(other->call(2, {cpu(1)}, 1).value().status, Status::kOk);
  EXPECT_EQ(other->call(3, {begin()}, 1).value().status, Status::kOk);
  EXPECT_EQ(other->call(4, {commit()}, 1).value().status, Status::kOk);
  EXPECT_EQ(gauge("admission_inside"), 1);
  EXPECT_EQ(counter("admission_admitted"), 1);
  PoolKnobs knobs = settings.knobs;
  knobs.admission.admission_exempt_class = 0;
  pool->set_knobs(knobs);
  EXPECT_EQ(other->call(5, {cpu(1)}, 0).value().status, Status::kOk);
  EXPECT_EQ(other->call(6, {cpu(1)}, 1).value().status, Status::kRefused);
  inside->call(2, {commit()});
  EXPECT_EQ(waiting->read().value().status, Status::kOk);
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(LiveAdmission, ALostConnectionGivesItsPlaceBack) {
  start(1);
  auto inside = client_inside();
  auto waiting = client_waiting({cpu(1)});
  const auto behind = client_waiting({cpu(1)});
  waiting->close();
  inside->close();
  EXPECT_EQ(behind->read().value().status, Status::kOk);
  EXPECT_TRUE(nobody_is_left());
  EXPECT_TRUE(eventually([this] { return gauge("connections") == 1; }));
}

TEST_F(LiveAdmission, AFailedTransactionGivesItsPlaceBack) {
  LivePoolSettings settings = small_pool();
  settings.knobs.admission.admission_limit = 2;
  settings.executor.latch_timeout_s = 0.02;
  start(settings);
  const auto holder = client();
  holder->call(1, {begin(), acquire(3)});
  EXPECT_EQ(client()->call(1, {begin(), acquire(3)}).value().status, Status::kLatchTimeout);
  EXPECT_EQ(gauge("admission_inside"), 1);
}

TEST_F(LiveAdmission, ARequestThatWaitsKeepsThoseBehindItInTheirOrder) {
  start(1);
  const auto inside = client_inside();
  const auto pipelining = client_waiting({cpu(1)});
  for (std::uint64_t id = 2; id <= 50; ++id) pipelining->send_request(id, {cpu(1)});
  inside->call(2, {commit()});
  for (std::uint64_t id = 1; id <= 50; ++id) {
    const auto answer = pipelining->read();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->request_id, id);
  }
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(LiveAdmission, RequestsSentTogetherEachEnterForThemselves) {
  start(1);
  std::vector<std::byte> together;
  for (std::uint64_t id = 1; id <= 30; ++id) {
    const auto frame = encode_request({{0, id, 0}, {silent(200)}});
    together.insert(together.end(), frame.begin(), frame.end());
  }
  const auto first = client();
  const auto second = client();
  first->send_bytes(together);
  second->send_bytes(together);
  for (std::uint64_t id = 1; id <= 30; ++id) {
    for (const auto* one : {first.get(), second.get()}) {
      const auto answer = one->read();
      ASSERT_TRUE(answer.has_value());
      EXPECT_EQ(answer->request_id, id);
    }
  }
  EXPECT_EQ(counter("admission_admitted"), 60);
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(LiveAdmission, AHigherLimitLetsInAtOnce) {
  start(1);
  const auto inside = client_inside();
  const auto first = client_waiting({begin()});
  const auto second = client_waiting({begin()});
  set_limit(2);
  EXPECT_TRUE(first->read().has_value());
  EXPECT_EQ(gauge("admission_waiting"), 1);
  set_limit(0);
  EXPECT_TRUE(second->read().has_value());
  EXPECT_EQ(client()->call(1, {cpu(1)}).value().status, Status::kOk);
}

TEST_F(LiveAdmission, ATransactionFromBeforeTheLimitIsNotHeldUp) {
  start(0);
  const auto early = client_inside();
  set_limit(1);
  const auto inside = client_inside();
  EXPECT_EQ(early->call(2, {cpu(1)}).value().status, Status::kOk);
  EXPECT_EQ(early->call(3, {commit()}).value().status, Status::kOk);
  EXPECT_EQ(gauge("admission_inside"), 1);
}

TEST_F(LiveAdmission, ACloseWithThoseThatWaitLeavesNothingOpen) {
  const LeftOpen left_open;
  for (int i = 0; i < closes() / 10; ++i) {
    start(1, 20);
    const auto inside = client_inside();
    std::vector<std::unique_ptr<LiveClient>> others;
    for (int n = 0; n < 8; ++n) {
      others.push_back(client());
      others.back()->send_request(1, {begin()});
    }
    pool->close();
  }
  EXPECT_TRUE(left_open.nothing());
}

TEST_F(LiveAdmission, ALimitOutsideItsRangeIsRefusedAndChangesNothing) {
  start(4);
  for (const int bad : {-1, 65'537}) {
    EXPECT_THROW(set_limit(bad), std::invalid_argument);
  }
  EXPECT_EQ(gauge("admission_limit"), 4);
  pool->close();
  EXPECT_THROW(set_limit(1), std::logic_error);
  LivePoolSettings settings = small_pool();
  settings.knobs.admission.admission_escape_ms = -1;
  EXPECT_THROW(LivePool{settings}, std::invalid_argument);
}

TEST_F(LiveAdmission, ATransactionCanBecomeALongOneWhileItIsInside) {
  start(1, 0);
  const auto hanging = client_inside();
  const auto waiting = client_waiting({cpu(1)});
  PoolKnobs knobs = pool->knobs();
  knobs.admission.admission_escape_ms = 5;
  pool->set_knobs(knobs);
  EXPECT_EQ(waiting->read().value().status, Status::kOk);
  EXPECT_EQ(counter("admission_escaped"), 1);
}

TEST_F(LiveAdmission, TheQueueCanBeBoundedWhileOthersWait) {
  start(1);
  const auto inside = client_inside();
  const auto first = client_waiting({cpu(1)});
  const auto second = client_waiting({cpu(1)});
  PoolKnobs knobs = pool->knobs();
  knobs.admission.admission_queue_limit = 1;
  pool->set_knobs(knobs);
  EXPECT_EQ(client()->call(1, {cpu(1)}).value().status, Status::kRefused);
  inside->call(2, {commit()});
  EXPECT_EQ(first->read().value().status, Status::kOk);
  EXPECT_EQ(second->read().value().status, Status::kOk);
}

TEST_F(LiveAdmission, WithoutAThreadForItsTimerTheOldLimitStays) {
  start(0, 100);
  const auto talking = client();
  ASSERT_TRUE(talking->call(1, {cpu(1)}).has_value());
  {
    const Refusal refusal(Refusable::kThread, 1, 1'000'000);
    EXPECT_THROW(set_limit(1), std::system_error);
  }
  EXPECT_EQ(gauge("admission_limit"), 0);
  EXPECT_EQ(pool->knobs().admission.admission_limit, 0);
  EXPECT_TRUE(talking->call(2, {cpu(1)}).has_value());
  set_limit(1);
  EXPECT_EQ(gauge("admission_limit"), 1);
}

int changes() { return number_from_environment("POOLPILOT_CHANGES", 200); }

struct Answers {
  std::atomic<std::int64_t> ok{0};
  std::atomic<std::int64_t> refused{0};
  std::atomic<std::int64_t> cut_off{0};  // by a client that left, or was silent for too long
};

// Transactions of one or two requests, now and then left open until the client hangs up.
void talk(const std::string& address, unsigned seed, const std::atomic<bool>& over,
          Answers& answers) {
  std::mt19937 random(seed);
  std::unique_ptr<LiveClient> client;
  for (std::uint64_t id = 1; !over; ++id) {
    if (!client) client = std::make_unique<LiveClient>(address);
    const bool opens = random() % 3 == 0;
    client->send_request(id, opens ? std::vector{begin(), acquire(1), silent(50)}
                                   : std::vector{silent(50), commit()});
    if (random() % 20 == 0) {
      client.reset();
      ++answers.cut_off;
      continue;
    }
    const auto answer = client->read();
    if (!answer) {
      client.reset();
      ++answers.cut_off;
      continue;
    }
    ASSERT_EQ(answer->request_id, id);
    ++(answer->status == Status::kRefused ? answers.refused : answers.ok);
    if (opens && random() % 10 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    }
  }
}

TEST_F(LiveAdmission, LosesNobodyWhileClientsComeAndGoAndTheLimitChanges) {
  const LeftOpen left_open;
  LivePoolSettings settings = small_pool();
  settings.tuple.timer_interval_ms = 1;
  settings.wait_timeout_s = 0.02;
  settings.executor.latch_timeout_s = 60.0;
  settings.knobs.admission = {2, 5, 4};
  start(settings);
  std::atomic<bool> over{false};
  Answers answers;
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < 12; ++i) {
    clients.emplace_back([&, i] { talk(pool->address(), i, over, answers); });
  }
  std::mt19937 random(7);
  for (int i = 0; i < changes(); ++i) {
    set_limit(static_cast<int>(random() % 5));
    PoolTuple tuple = settings.tuple;
    tuple.pool_size = 1 + static_cast<int>(random() % 4);
    pool->set_tuple(tuple);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(eventually([this] { return gauge("connections") == 0; }));
  EXPECT_TRUE(nobody_is_left());
  const PoolSnapshot snapshot = pool->snapshot();
  EXPECT_EQ(snapshot.counters.at("failed"), 0);
  EXPECT_GE(snapshot.counters.at("completed"), answers.ok.load());
  EXPECT_LE(snapshot.counters.at("completed"), answers.ok + answers.cut_off);
  EXPECT_GE(snapshot.counters.at("admission_refused"), answers.refused.load());
  EXPECT_LE(snapshot.counters.at("admission_refused"), answers.refused + answers.cut_off);
  EXPECT_GT(snapshot.counters.at("admission_parked"), 0);
  pool->close();
  for (const EventLog& log : pool->event_logs()) EXPECT_EQ(replay(log), log.entries.size());
  EXPECT_TRUE(left_open.nothing());
}

}  // namespace
}  // namespace poolpilot
