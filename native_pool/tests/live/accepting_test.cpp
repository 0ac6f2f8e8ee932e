// A live pool whose system refuses to hand over the next client of the backlog.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "live/server.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"
#include "tests/refusals.hpp"

namespace poolpilot {
namespace {

class Accepting : public testing::Test {
 protected:
  Accepting() : pool(small_pool()) { pool.start(); }

  double counter(const std::string& name) { return pool.snapshot().counters.at(name); }

  // How long a new client waits for its first answer when accept4 fails `times` with `error`.
  std::chrono::steady_clock::duration answered_after(int error, int times) {
    const auto begin = std::chrono::steady_clock::now();
    const Refusal refusal(Refusable::kAccept, 1, times, error);
    const LiveClient client(pool.address());
    EXPECT_TRUE(client.call(1, {cpu(1)}).has_value());
    EXPECT_EQ(refusal.refused(), times);
    return std::chrono::steady_clock::now() - begin;
  }

  LivePool pool;
};

TEST_F(Accepting, AClientForWhichThereIsNoDescriptorWaitsUntilThereIsOne) {
  int shortages = 0;
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
    SCOPED_TRACE("error " + std::to_string(error));
    std::optional<LiveClient> client;
    {
      const Refusal refusal(Refusable::kAccept, 1, INT_MAX, error);
      client.emplace(pool.address());
      client->send_request(1, {cpu(1)});
      ASSERT_TRUE(eventually([&refusal] { return refusal.refused() >= 5; }));
      EXPECT_EQ(counter("refused_connections"), 0);
      EXPECT_EQ(counter("accept_shortages"), ++shortages);
    }
    EXPECT_TRUE(client->read().has_value());
    EXPECT_EQ(counter("refused_connections"), 0);
    EXPECT_EQ(counter("accept_shortages"), shortages);
  }
}

TEST_F(Accepting, WithoutADescriptorItDoesNotSpin) {
  const Refusal refusal(Refusable::kAccept, 1, INT_MAX, EMFILE);
  const LiveClient client(pool.address());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(refusal.refused(), 100);
}

TEST_F(Accepting, AClientThatIsGoneBeforeItIsAcceptedCountsAsNothing) {
  for (const int error : {EAGAIN, ECONNABORTED, EINTR, EPROTO, EPERM, ENETDOWN, ENOPROTOOPT,
                          EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH}) {
    SCOPED_TRACE("error " + std::to_string(error));
    answered_after(error, 3);
  }
  EXPECT_EQ(counter("refused_connections"), 0);
  EXPECT_EQ(counter("accept_shortages"), 0);
}

TEST_F(Accepting, AClientThatIsGoneBeforeItIsAcceptedKeepsNobodyWaiting) {
  EXPECT_LT(answered_after(ECONNABORTED, 30), answered_after(EMFILE, 30));
}

TEST_F(Accepting, APoolWithoutADescriptorCloses) {
  const Refusal refusal(Refusable::kAccept, 1, INT_MAX, EMFILE);
  const LiveClient client(pool.address());
  client.send_request(1, {cpu(1)});
  ASSERT_TRUE(eventually([&refusal] { return refusal.refused() >= 1; }));
  pool.close();
  EXPECT_FALSE(client.read().has_value());
}

}  // namespace
}  // namespace poolpilot
