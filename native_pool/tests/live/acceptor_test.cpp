// The end of an acceptor: whom it still hands over once it has stopped.
#include "live/acceptor.hpp"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "system/descriptor.hpp"
#include "tests/live/client.hpp"
#include "tests/live/small_pool.hpp"

namespace poolpilot {
namespace {

// Connects to where `client` is connected to, as often as it is asked to, and may be refused.
class Latecomers {
 public:
  explicit Latecomers(const LiveClient& client) {
    getpeername(client.fd(), reinterpret_cast<sockaddr*>(&name_), &length_);
  }

  // Whether it was taken into the backlog.
  bool connect_one() {
    const Descriptor& one =
        sockets_.emplace_back(socket(name_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(one.get(), reinterpret_cast<const sockaddr*>(&name_), length_) == 0;
  }

 private:
  sockaddr_storage name_{};
  socklen_t length_ = sizeof(name_);
  std::vector<Descriptor> sockets_;
};

// What TCP has acknowledged is the server's, and so is the client; a Unix socket takes it at once.
void await_arrival(const LiveClient& client) {
  client.send_bytes({std::byte{1}});
  int unacknowledged = 0;
  ASSERT_TRUE(eventually(
      [&] { return ioctl(client.fd(), SIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0; }));
}

class StoppedAcceptor : public testing::TestWithParam<bool> {
 protected:
  static std::string address() { return GetParam() ? "unix:" + socket_path() : "tcp:127.0.0.1:0"; }

  std::atomic<bool> stopping{false};
};

INSTANTIATE_TEST_SUITE_P(Kinds, StoppedAcceptor, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "OnAUnixSocket" : "OverTcp"; });

TEST_P(StoppedAcceptor, HandsOverThoseOfItsBacklogAndNobodyWhoComesMeanwhile) {
  Acceptor acceptor(address(), stopping);
  std::vector<LiveClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(acceptor.address());
    if (!GetParam()) await_arrival(clients.back());
  }
  stopping = true;
  acceptor.stop();
  int handed_over = 0;
  Latecomers late(clients.front());
  acceptor.empty_backlog([&](int socket) {
    ::close(socket);
    if (++handed_over < 50) late.connect_one();
  });
  EXPECT_EQ(handed_over, 3);
}

}  // namespace
}  // namespace poolpilot
