// Connecting many clients at once: full queues, nobody there, client addresses.
#include "load/connecting.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "load/client_addresses.hpp"
#include "system/clock.hpp"

namespace poolpilot::load {
namespace {

constexpr auto kAnywhere = [](std::size_t) { return std::optional<in_addr>(); };

// Listens with a queue of a few; who accepts is the test's business.
class Listener {
 public:
  Listener(bool tcp, int backlog) {
    if (tcp) {
      sockaddr_in name{};
      name.sin_family = AF_INET;
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      listen_on(reinterpret_cast<const sockaddr*>(&name), sizeof(name), backlog);
      socklen_t length = sizeof(name);
      getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &length);
      address_ = "tcp:127.0.0.1:" + std::to_string(ntohs(name.sin_port));
    } else {
      path_ = testing::TempDir() + "connecting_" + std::to_string(getpid()) + ".socket";
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      path_.copy(name.sun_path, sizeof(name.sun_path) - 1);
      listen_on(reinterpret_cast<const sockaddr*>(&name), sizeof(name), backlog);
      address_ = "unix:" + path_;
    }
  }
  ~Listener() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  Address address() const { return parse_address(address_); }

  // The clients' addresses, and how many came from each.
  std::map<std::string, int> accept_all(int clients) const {
    std::map<std::string, int> seen;
    for (int i = 0; i < clients; ++i) {
      sockaddr_in peer{};
      socklen_t length = sizeof(peer);
      const Descriptor client(accept(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &length));
      std::array<char, INET_ADDRSTRLEN> text{};
      ++seen[inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size())];
    }
    return seen;
  }

 private:
  void listen_on(const sockaddr* name, socklen_t length, int backlog) {
    socket_ = Descriptor(socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(socket_.get(), name, length), 0);
    ASSERT_EQ(listen(socket_.get(), backlog), 0);
  }

  std::string address_;
  std::string path_;
  Descriptor socket_;
};

std::string refusal_of(const Address& address, double timeout_s) {
  try {
    connect_all(address, 40, kAnywhere, timeout_s);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "connected";
}

class LoadConnecting : public testing::TestWithParam<bool> {};

TEST_P(LoadConnecting, AFullQueueIsWaitedOutByAll) {
  const Listener listener(GetParam(), 4);
  constexpr int kClients = 600;
  const std::int64_t start_ns = now_ns();
  std::thread acceptor([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // until the queue has overflown
    listener.accept_all(kClients);
  });
  const auto sockets = connect_all(listener.address(), kClients, kAnywhere, 30.0);
  acceptor.join();
  std::set<int> distinct;
  for (const Descriptor& socket : sockets) distinct.insert(socket.get());
  EXPECT_EQ(distinct.size(), static_cast<std::size_t>(kClients));
  EXPECT_FALSE(distinct.contains(-1));
  EXPECT_LT(now_ns() - start_ns, 20'000'000'000);
}

TEST_P(LoadConnecting, AQueueThatStaysFullEndsAtTheTimeOut) {
  const Listener listener(GetParam(), 1);
  const std::string text = refusal_of(listener.address(), 0.05);
  EXPECT_NE(text.find(listener.address().text + ": no answer in time; check that the pool server"),
            std::string::npos)
      << text;
}

INSTANTIATE_TEST_SUITE_P(BothSockets, LoadConnecting, testing::Values(false, true),
                         [](const auto& tcp) { return tcp.param ? "Tcp" : "Unix"; });

TEST(LoadConnect, NobodyListeningNamesTheAddressAndTheRemedy) {
  for (const char* where : {"unix:/nonexistent/pool.socket", "tcp:127.0.0.1:1"}) {
    const std::string text = refusal_of(parse_address(where), 1.0);
    EXPECT_NE(text.find(where), std::string::npos) << text;
    EXPECT_NE(text.find("check that the pool server listens there"), std::string::npos) << text;
  }
}

TEST(LoadConnect, ClientsComeFromTheAddressesTheyAreGiven) {
  const Listener listener(true, 128);
  const ClientAddresses clients(90, 60);  // 30 each
  std::map<std::string, int> seen;
  std::thread acceptor([&] { seen = listener.accept_all(90); });
  const auto sockets =
      connect_all(listener.address(), 90, [&](std::size_t i) { return clients.of(i); }, 30.0);
  acceptor.join();
  EXPECT_EQ(seen,
            (std::map<std::string, int>{{"127.0.0.1", 30}, {"127.0.0.2", 30}, {"127.0.0.3", 30}}));
}

TEST(LoadClientAddresses, OneIsEnoughForHalfOfThePorts) {
  const ClientAddresses few(14'000, 28'232);
  const ClientAddresses many(65'536, 28'232);
  EXPECT_FALSE(few.of(13'999).has_value());
  std::map<in_addr_t, int> dealt;
  for (std::size_t i = 0; i < 65'536; ++i) {
    const auto address = many.of(i);
    ++dealt[address ? ntohl(address->s_addr) : 0];
  }
  EXPECT_EQ(dealt.size(), 5U);
  EXPECT_EQ(dealt.rbegin()->first, INADDR_LOOPBACK + 4);
  for (const auto& [address, connections] : dealt) EXPECT_LE(connections, 28'232 / 2);
  EXPECT_GT(local_ports(), 0U);
}

}  // namespace
}  // namespace poolpilot::load
