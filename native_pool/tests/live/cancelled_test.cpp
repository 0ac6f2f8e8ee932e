// Requests that have come in whole and whose connection ends before they are run.
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "live/server.hpp"
#include "system/descriptor.hpp"
#include "tests/live/client.hpp"
#include "tests/live/every_handler.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

// TCP acknowledges what has come in; into a Unix socket it comes by being sent.
void await_arrival(const LiveClient& client) {
  int domain = 0;
  socklen_t size = sizeof(domain);
  ASSERT_EQ(getsockopt(client.fd(), SOL_SOCKET, SO_DOMAIN, &domain, &size), 0);
  if (domain == AF_UNIX) return;
  int unacknowledged = 0;
  ASSERT_TRUE(eventually(
      [&] { return ioctl(client.fd(), SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0; }));
}

void send_many(const LiveClient& client, int number) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < number; ++i) {
    const auto frame = encode_request({{0, 1, 0}, {}});
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  client.send_bytes(bytes);
  await_arrival(client);
}

// While it lives the process may open no descriptor but in the place of one that it closes.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor lowest(eventfd(0, EFD_CLOEXEC));
    const rlimit none{static_cast<rlim_t>(lowest.get()), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptorLeft() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptorLeft(const NoDescriptorLeft&) = delete;
  NoDescriptorLeft& operator=(const NoDescriptorLeft&) = delete;

 private:
  rlimit before_{};
};

class Cancelled : public testing::TestWithParam<std::tuple<bool, HandlerKind>> {
 protected:
  static LivePoolSettings settings() {
    LivePoolSettings made = small_pool();
    const auto [unix_socket, handler] = GetParam();
    made.handling.handler = handler;
    if (unix_socket) made.address = "unix:" + socket_path();
    return made;
  }

  void start(const LivePoolSettings& made) {
    pool = std::make_unique<LivePool>(made);
    pool->start();
  }

  double counter(const std::string& name) { return pool->snapshot().counters.at(name); }

  bool everybody_left() {
    return eventually([this] { return pool->snapshot().gauges.at("connections") == 0; });
  }

  bool eventually_active(bool active) {
    return eventually([&] { return (pool->snapshot().gauges.at("active_threads") > 0) == active; });
  }

  // A client at whose second request a thread is for so long, or until the pool ends.
  LiveClient busy_client(std::uint32_t for_us = 10'000'000) {
    LiveClient client(pool->address());
    EXPECT_TRUE(client.call(1, {}).has_value());
    EXPECT_TRUE(eventually_active(false));  // what is active next is no login any more
    client.send_request(2, {silent(for_us)});
    EXPECT_TRUE(eventually_active(true));
    return client;
  }

  std::unique_ptr<LivePool> pool;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Cancelled, testing::Combine(testing::Bool(), all_handlers()),
                         [](const auto& kind) {
                           return name_of(std::get<1>(kind.param)) +
                                  (std::get<0>(kind.param) ? "OnAUnixSocket" : "OverTcp");
                         });

TEST_P(Cancelled, AreThoseOfAClientThatDies) {
  start(settings());
  LiveClient client = busy_client(100'000);
  send_many(client, 300);  // more than one read takes
  client.reset();
  ASSERT_TRUE(everybody_left());
  EXPECT_EQ(counter("completed"), 2);
  EXPECT_EQ(counter("cancelled_requests"), 300);
}

TEST_P(Cancelled, AreNotThoseBeforeABrokenFrameNorWhatFollowsIt) {
  start(settings());
  const LiveClient client(pool->address());
  send_many(client, 3);
  std::vector<std::byte> broken(64);
  const auto whole = encode_request({{0, 1, 0}, {}});
  broken.insert(broken.end(), whole.begin(), whole.end());
  client.send_bytes(broken);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.read().has_value());
  ASSERT_TRUE(everybody_left());
  EXPECT_EQ(counter("completed"), 3);
  EXPECT_EQ(counter("protocol_errors"), 1);
  EXPECT_EQ(counter("cancelled_requests"), 0);
}

TEST_P(Cancelled, AreThoseOfAClientWhoIsOverMaxConnections) {
  LivePoolSettings made = settings();
  made.max_connections = 1;
  start(made);
  const LiveClient first(pool->address());
  ASSERT_TRUE(first.call(1, {}).has_value());
  {
    const Refusal refusal(Refusable::kAccept, 1, INT_MAX);
    const LiveClient second(pool->address());
    send_many(second, 2);
    ASSERT_TRUE(eventually([&refusal] { return refusal.refused() > 0; }));
  }
  ASSERT_TRUE(eventually([this] { return counter("refused_connections") == 1; }));
  EXPECT_TRUE(eventually([this] { return counter("cancelled_requests") == 2; }));
}

TEST_P(Cancelled, AreThoseThatACloseFindsUnread) {
  start(settings());
  const LiveClient client = busy_client();
  send_many(client, 10);
  pool->close();
  const PoolSnapshot last = pool->last_snapshot();
  EXPECT_EQ(last.counters.at("failed"), 1);  // cut short
  EXPECT_EQ(last.counters.at("cancelled_requests"), 10);
  EXPECT_EQ(last.gauges.at("connections"), 0);
}

// The acceptor pauses after a shortage, and a close comes before it goes on; or it went on already.
TEST_P(Cancelled, AreThoseOfAClientThatACloseFindsInTheBacklog) {
  start(settings());
  const Refusal refusal(Refusable::kAccept, 1, 1);
  const LiveClient client(pool->address());
  send_many(client, 1);
  ASSERT_TRUE(eventually([&refusal] { return refusal.refused() > 0; }));
  pool->close();
  const auto counters = pool->last_snapshot().counters;
  EXPECT_EQ(counters.at("completed") + counters.at("failed") + counters.at("cancelled_requests"),
            1);
}

#ifndef __SANITIZE_ADDRESS__  // UBSan needs a descriptor itself, see saboteur.hpp
TEST_P(Cancelled, AreThoseOfTheBacklogWhereNoDescriptorIsLeft) {
  start(settings());
  auto refusal = std::make_unique<Refusal>(Refusable::kAccept, 1, INT_MAX);
  std::vector<std::unique_ptr<LiveClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<LiveClient>(pool->address()));
    send_many(*clients.back(), 2);
  }
  {
    const NoDescriptorLeft none;
    refusal.reset();
    pool->close();
  }
  EXPECT_EQ(pool->last_snapshot().counters.at("cancelled_requests"), 6);
  for (const auto& one : clients) EXPECT_FALSE(one->read().has_value());
}
#endif

TEST_P(Cancelled, AreToldOnceThePoolIsClosed) {
  start(settings());
  EXPECT_THROW(pool->last_snapshot(), std::logic_error);
  LivePool unused(settings());
  unused.close();
  EXPECT_TRUE(unused.last_snapshot().counters.empty());
}

// Of the handlers the pool alone can have one wait.
TEST(CancelledInAdmission, AreThoseThatACloseFindsWaiting) {
  LivePoolSettings made = small_pool();
  made.knobs.admission.admission_limit = 1;
  LivePool pool(made);
  pool.start();
  const auto gauge = [&pool](const char* name) { return pool.snapshot().gauges.at(name); };
  const LiveClient inside(pool.address());
  inside.send_request(1, {silent(10'000'000)});
  ASSERT_TRUE(eventually([&] { return gauge("admission_inside") == 1; }));
  const LiveClient waiting(pool.address());
  send_many(waiting, 2);
  ASSERT_TRUE(eventually([&] { return gauge("admission_waiting") == 1; }));
  pool.close();
  EXPECT_EQ(pool.last_snapshot().counters.at("cancelled_requests"), 2);
}

}  // namespace
}  // namespace poolpilot
