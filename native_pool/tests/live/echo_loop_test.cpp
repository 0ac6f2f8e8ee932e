// The bare loop answers every request, whole or in parts, and lets go of its clients.
#include "live/echo_loop.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/live/client.hpp"

namespace poolpilot {
namespace {

const std::vector<Step> kLong{{Op::kCpu, 0, 0, 10'000'000}};

TEST(EchoLoop, AnswersAtOnceWithoutRunningTheSteps) {
  const EchoLoop loop("tcp:127.0.0.1:0", -1);
  const LiveClient client(loop.address());
  for (std::uint64_t id = 1; id <= 3; ++id) {
    const auto response = client.call(id, kLong, 5);
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, Status::kOk);
    EXPECT_EQ(response->request_id, id);
    EXPECT_EQ(response->class_id, 5);
  }
}

TEST(EchoLoop, PutsTogetherWhatComesInPartsAndTakesApartWhatComesTogether) {
  const EchoLoop loop("tcp:127.0.0.1:0", -1);
  const LiveClient client(loop.address());
  std::vector<std::byte> frames = encode_request({{0, 7, 0}, kLong});
  const std::vector<std::byte> second = encode_request({{0, 8, 0}, {}});
  frames.insert(frames.end(), second.begin(), second.end());
  for (const std::byte one : frames) client.send_bytes({one});
  client.send_bytes(frames);
  for (const std::uint64_t id : std::vector<std::uint64_t>{7, 8, 7, 8}) {
    const auto response = client.read();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->request_id, id);
  }
}

TEST(EchoLoop, EndsAConnectionThatBreaksTheProtocolAndServesTheOthers) {
  const EchoLoop loop("tcp:127.0.0.1:0", -1);
  const LiveClient good(loop.address());
  const LiveClient bad(loop.address());
  bad.send_bytes(std::vector<std::byte>(64, std::byte{0xff}));
  EXPECT_FALSE(bad.read().has_value());
  EXPECT_TRUE(good.call(1, {}).has_value());
}

TEST(EchoLoop, CloseEndsTheConnectionsAndASecondOneDoesNothing) {
  EchoLoop loop("tcp:127.0.0.1:0", -1);
  const LiveClient client(loop.address());
  EXPECT_TRUE(client.call(1, {}).has_value());
  loop.close();
  EXPECT_FALSE(client.read().has_value());
  loop.close();
}

}  // namespace
}  // namespace poolpilot
