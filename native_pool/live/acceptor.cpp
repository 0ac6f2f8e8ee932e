#include "live/acceptor.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "live/thread_registry.hpp"
#include "system/start_thread.hpp"

namespace poolpilot {
namespace {

constexpr int kShortagePauseMs = 10;

}  // namespace

Acceptor::Acceptor(const std::string& address, const std::atomic<bool>& stopping)
    : stopping_(stopping), listening_(address), stop_event_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_event_.valid()) {
    throw std::system_error(errno, std::generic_category(), "cannot create the acceptor's event");
  }
}

void Acceptor::start(const std::vector<int>& cpus, std::function<void(int)> welcome) {
  thread_ = start_thread("the acceptor", [this, cpus, welcome = std::move(welcome)] {
    pin_this_thread(cpus);
    run(welcome);
  });
}

void Acceptor::stop() {
  eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void Acceptor::run(const std::function<void(int)>& welcome) {
  using Accepted = ListeningSocket::Accepted;
  std::array<pollfd, 2> watched{pollfd{stop_event_.get(), POLLIN, 0},
                                pollfd{listening_.fd(), POLLIN, 0}};
  bool shortage = false;
  while (!stopping_.load(std::memory_order_relaxed)) {
    poll(watched.data(), shortage ? 1 : 2, shortage ? kShortagePauseMs : -1);
    int socket = -1;
    const Accepted accepted = listening_.accept(socket);
    if (accepted == Accepted::kClient) welcome(socket);
    const bool begins = accepted == Accepted::kShortage && !shortage;
    if (begins) shortages_.fetch_add(1, std::memory_order_relaxed);
    shortage = accepted == Accepted::kShortage;
  }
}

void Acceptor::empty_backlog(const std::function<void(int)>& turn_away) {
  stop_event_ = Descriptor();
  int socket = -1;
  for (int left = listening_.end_backlog(); left > 0; --left) {
    if (listening_.accept(socket) != ListeningSocket::Accepted::kClient) return;
    turn_away(socket);
  }
}

void Acceptor::add_counts(PoolSnapshot& snapshot) const {
  snapshot.counters["accept_shortages"] = static_cast<double>(shortages_.load());
}

}  // namespace poolpilot
