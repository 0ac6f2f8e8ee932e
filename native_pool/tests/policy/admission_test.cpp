// The admission alone: who runs, who waits, who is refused, and who is let in by whom.
#include "policy/admission.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace poolpilot {
namespace {

constexpr std::int64_t kMs = 1'000;

// Clients of an admission by their numbers, and what they have been told.
class Clients {
 public:
  explicit Clients(const AdmissionSettings& settings) : admission(settings) {}

  Admittance enter(std::size_t client) { return admission.enter(tickets[client], now_us); }
  std::vector<std::size_t> leave(std::size_t client) {
    return numbers(admission.leave(tickets[client], now_us));
  }
  std::vector<std::size_t> expire() { return numbers(admission.expire(now_us)); }
  std::vector<std::size_t> configure(const AdmissionSettings& settings) {
    return numbers(admission.configure(settings, now_us));
  }

  Admission admission;
  std::array<AdmissionTicket, 12> tickets;
  std::int64_t now_us = 1;

 private:
  std::vector<std::size_t> numbers(Woken woken) {
    std::vector<std::size_t> taken;
    while (const AdmissionTicket* ticket = woken.take()) {
      taken.push_back(static_cast<std::size_t>(ticket - tickets.data()));
    }
    return taken;
  }
};

using Numbers = std::vector<std::size_t>;

AdmissionSettings limit_of(int limit, int escape_ms = 0, int queue_limit = 0) {
  return {limit, escape_ms, queue_limit};
}

TEST(Admission, WithoutALimitAllRunAndNobodyIsCounted) {
  Clients clients({});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(clients.enter(i), Admittance::kRun);
  EXPECT_FALSE(clients.tickets[0].is_admitted());
  EXPECT_EQ(clients.admission.state().inside, 0);
  EXPECT_EQ(clients.admission.counters_at(9).admitted, 0);
}

TEST(Admission, LetsInThoseThatWaitInTheirOrder) {
  Clients clients(limit_of(2));
  EXPECT_EQ(clients.enter(0), Admittance::kRun);
  EXPECT_EQ(clients.enter(1), Admittance::kRun);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(clients.enter(i), Admittance::kPark);
  EXPECT_FALSE(clients.tickets[2].is_admitted());
  EXPECT_EQ(clients.leave(1), Numbers{2});
  EXPECT_TRUE(clients.tickets[2].is_admitted());
  EXPECT_EQ(clients.leave(0), Numbers{3});
  EXPECT_EQ(clients.leave(2), Numbers{4});
  EXPECT_EQ(clients.leave(3), Numbers{});
  EXPECT_EQ(clients.leave(4), Numbers{});
  EXPECT_EQ(clients.admission.state().inside, 0);
  EXPECT_EQ(clients.admission.counters_at(9).admitted, 5);
  EXPECT_EQ(clients.admission.counters_at(9).parked, 3);
}

TEST(Admission, ANewcomerDoesNotPassThoseThatWait) {
  Clients clients(limit_of(1, 10));
  clients.enter(0);
  clients.enter(1);
  clients.now_us += 10 * kMs;  // the first has escaped, and nobody has looked yet
  EXPECT_EQ(clients.enter(2), Admittance::kPark);
  EXPECT_EQ(clients.expire(), Numbers{1});
}

TEST(Admission, RefusesWhoFindsTheQueueFull) {
  Clients clients(limit_of(1, 0, 2));
  clients.enter(0);
  clients.enter(1);
  clients.enter(2);
  EXPECT_EQ(clients.enter(3), Admittance::kRefuse);
  EXPECT_EQ(clients.leave(0), Numbers{1});
  EXPECT_EQ(clients.enter(3), Admittance::kPark);
  EXPECT_EQ(clients.admission.counters_at(9).refused, 1);
}

TEST(Admission, AHigherLimitLetsInAsManyMore) {
  Clients clients(limit_of(1));
  for (std::size_t i = 0; i < 6; ++i) clients.enter(i);
  EXPECT_EQ(clients.configure(limit_of(3)), (Numbers{1, 2}));
  EXPECT_EQ(clients.configure(limit_of(0)), (Numbers{3, 4, 5}));
  EXPECT_EQ(clients.enter(6), Admittance::kRun);
}

TEST(Admission, ALowerLimitSendsNobodyOut) {
  Clients clients(limit_of(3));
  for (std::size_t i = 0; i < 4; ++i) clients.enter(i);
  EXPECT_EQ(clients.configure(limit_of(1)), Numbers{});
  EXPECT_EQ(clients.leave(0), Numbers{});
  EXPECT_EQ(clients.leave(1), Numbers{});
  EXPECT_EQ(clients.leave(2), Numbers{3});
}

TEST(Admission, ALongTransactionGivesItsPlaceToOneThatWaits) {
  Clients clients(limit_of(1, 2'000));
  clients.enter(0);
  clients.now_us += 500 * kMs;
  clients.enter(1);
  EXPECT_EQ(clients.admission.next_expiry_us(), 1 + 2'000 * kMs);
  clients.now_us += 1'499 * kMs;
  EXPECT_EQ(clients.expire(), Numbers{});
  clients.now_us += 1 * kMs;
  EXPECT_EQ(clients.expire(), Numbers{1});
  EXPECT_EQ(clients.admission.state().inside, 2);
  EXPECT_EQ(clients.admission.state().escaped, 1);
  EXPECT_TRUE(clients.tickets[0].is_admitted());
  EXPECT_EQ(clients.enter(2), Admittance::kPark);
  EXPECT_EQ(clients.leave(0), Numbers{});  // it had no place any more
  EXPECT_EQ(clients.leave(1), Numbers{2});
  EXPECT_EQ(clients.admission.state().escaped, 0);
  EXPECT_EQ(clients.admission.counters_at(clients.now_us).escaped, 1);
}

TEST(Admission, ALongTransactionIsInNobodysWayWhileNobodyWaits) {
  Clients clients(limit_of(1, 10));
  clients.enter(0);
  EXPECT_EQ(clients.admission.next_expiry_us(), Admission::kNever);
  clients.now_us += 1'000 * kMs;
  EXPECT_EQ(clients.expire(), Numbers{});
  EXPECT_EQ(clients.admission.counters_at(clients.now_us).escaped, 0);
  EXPECT_EQ(clients.enter(1), Admittance::kRun);  // and gives way at once to the first that comes
  EXPECT_EQ(clients.admission.counters_at(clients.now_us).escaped, 1);
}

TEST(Admission, AnEscapeOfZeroIsNone) {
  Clients clients(limit_of(1, 0));
  clients.enter(0);
  clients.enter(1);
  EXPECT_EQ(clients.admission.next_expiry_us(), Admission::kNever);
  clients.now_us += 1'000'000'000 * kMs;
  EXPECT_EQ(clients.expire(), Numbers{});
}

TEST(Admission, AnEscapeThatIsSetLaterCountsFromTheEntry) {
  Clients clients(limit_of(1, 0));
  clients.enter(0);
  clients.now_us += 30 * kMs;
  clients.enter(1);
  EXPECT_EQ(clients.configure(limit_of(1, 40)), Numbers{});
  EXPECT_EQ(clients.admission.next_expiry_us(), 1 + 40 * kMs);
  EXPECT_EQ(clients.configure(limit_of(1, 20)), Numbers{1});
}

TEST(Admission, AConnectionThatEndsWhileItWaitsLeavesNothingBehind) {
  Clients clients(limit_of(1));
  for (std::size_t i = 0; i < 4; ++i) clients.enter(i);
  EXPECT_EQ(clients.leave(2), Numbers{});
  EXPECT_EQ(clients.leave(0), Numbers{1});
  EXPECT_EQ(clients.leave(1), Numbers{3});
  EXPECT_EQ(clients.leave(3), Numbers{});
  EXPECT_EQ(clients.admission.state().waiting, 0);
  EXPECT_EQ(clients.admission.state().inside, 0);
}

TEST(Admission, CountsTheTimeInside) {
  Clients clients(limit_of(2));
  clients.enter(0);
  clients.now_us += 10;
  clients.enter(1);
  clients.now_us += 5;
  clients.leave(0);
  clients.now_us += 1;
  EXPECT_EQ(clients.admission.counters_at(clients.now_us).inside_us, 10 + 2 * 5 + 1);
}

TEST(Admission, ALimitOutsideItsRangeIsRefusedByName) {
  Admission admission(limit_of(4));
  for (const int bad : {-1, 65'537}) {
    try {
      const Woken woken = admission.configure(limit_of(bad), 0);
      ADD_FAILURE() << bad;
    } catch (const std::invalid_argument& refusal) {
      EXPECT_EQ(std::string(refusal.what()),
                "admission_limit is " + std::to_string(bad) + ", but must be in 0..65536");
    }
  }
  EXPECT_EQ(admission.state().limit, 4);
}

// The rules again, in the plainest terms: lists of numbers.
class Oracle {
 public:
  explicit Oracle(const AdmissionSettings& settings) : settings_(settings) {}

  Admittance enter(std::size_t client, std::int64_t now_us) {
    if (settings_.admission_limit == 0) return Admittance::kRun;
    if (waiting.empty() && make_room(now_us)) {
      inside.emplace_back(client, now_us);
      return Admittance::kRun;
    }
    const auto most = static_cast<std::size_t>(settings_.admission_queue_limit);
    if (most > 0 && waiting.size() >= most) return Admittance::kRefuse;
    waiting.push_back(client);
    return Admittance::kPark;
  }

  Numbers leave(std::size_t client, std::int64_t now_us) {
    std::erase(waiting, client);
    std::erase_if(inside, [&](const auto& one) { return one.first == client; });
    std::erase(escaped, client);
    return let_in(now_us);
  }

  Numbers configure(const AdmissionSettings& settings, std::int64_t now_us) {
    settings_ = settings;
    return let_in(now_us);
  }

  Numbers let_in(std::int64_t now_us) {
    Numbers woken;
    while (!waiting.empty() && make_room(now_us)) {
      woken.push_back(waiting.front());
      inside.emplace_back(waiting.front(), now_us);
      waiting.pop_front();
    }
    return woken;
  }

  bool full() const {
    const auto limit = static_cast<std::size_t>(settings_.admission_limit);
    return limit > 0 && inside.size() >= limit;
  }

  std::deque<std::size_t> waiting;
  std::deque<std::pair<std::size_t, std::int64_t>> inside;  // and since when
  std::vector<std::size_t> escaped;

 private:
  bool make_room(std::int64_t now_us) {
    const std::int64_t escape_us = settings_.admission_escape_ms * kMs;
    while (full() && escape_us > 0 && now_us - inside.front().second >= escape_us) {
      escaped.push_back(inside.front().first);
      inside.pop_front();
    }
    return !full();
  }

  AdmissionSettings settings_;
};

// Random clients that come, end and hang while the limit changes, beside the oracle.
class RandomClients {
 public:
  explicit RandomClients(unsigned seed) : random_(seed), clients_(first_), oracle_(first_) {}

  void step() {
    clients_.now_us += below(3) == 0 ? static_cast<int>(below(4'000)) : 0;
    const std::size_t client = below(clients_.tickets.size());
    switch (below(8)) {
      case 0:
        expect_woken(clients_.expire(), oracle_.let_in(clients_.now_us));
        break;
      case 1: {
        const AdmissionSettings settings = drawn(6);
        expect_woken(clients_.configure(settings), oracle_.configure(settings, clients_.now_us));
        break;
      }
      default:
        stands_[client] ? leave(client) : enter(client);
    }
    check();
  }

  void end() {
    for (std::size_t client = 0; client < clients_.tickets.size(); ++client) leave(client);
    EXPECT_EQ(clients_.admission.state().inside, 0);
    EXPECT_EQ(clients_.admission.state().waiting, 0);
    EXPECT_EQ(clients_.admission.state().escaped, 0);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  AdmissionSettings drawn(std::size_t limits) {
    return limit_of(static_cast<int>(below(limits)), static_cast<int>(below(2) * 3),
                    static_cast<int>(below(2) * 4));
  }

  void enter(std::size_t client) {
    const Admittance admittance = clients_.enter(client);
    EXPECT_EQ(admittance, oracle_.enter(client, clients_.now_us));
    stands_[client] = admittance == Admittance::kPark || clients_.tickets[client].is_admitted();
  }

  void leave(std::size_t client) {
    stands_[client] = false;
    expect_woken(clients_.leave(client), oracle_.leave(client, clients_.now_us));
    EXPECT_FALSE(clients_.tickets[client].is_admitted());
  }

  void expect_woken(const Numbers& woken, const Numbers& expected) {
    EXPECT_EQ(woken, expected);
    for (const std::size_t client : woken) EXPECT_TRUE(clients_.tickets[client].is_admitted());
  }

  void check() {
    const AdmissionState state = clients_.admission.state();
    EXPECT_EQ(static_cast<std::size_t>(state.waiting), oracle_.waiting.size());
    EXPECT_EQ(static_cast<std::size_t>(state.escaped), oracle_.escaped.size());
    EXPECT_EQ(static_cast<std::size_t>(state.inside - state.escaped), oracle_.inside.size());
    if (state.waiting > 0) {
      EXPECT_TRUE(oracle_.full());  // nobody waits beside a free place
    }
  }

  std::mt19937 random_;
  AdmissionSettings first_ = drawn(5);
  Clients clients_;
  Oracle oracle_;
  std::array<bool, 12> stands_{};  // inside or in the queue
};

TEST(Admission, KeepsItsRulesUnderRandomClients) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomClients clients(seed);
    for (int i = 0; i < 2'000 && !testing::Test::HasFailure(); ++i) clients.step();
    clients.end();
  }
}

}  // namespace
}  // namespace poolpilot
