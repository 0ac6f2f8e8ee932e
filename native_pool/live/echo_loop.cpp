#include "live/echo_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "live/thread_registry.hpp"
#include "system/start_thread.hpp"

namespace poolpilot {
namespace {

constexpr int kEventsAtOnce = 1024;
constexpr std::size_t kReadBytes = 64 << 10;

Descriptor opened(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(fd);
}

}  // namespace

EchoLoop::EchoLoop(const std::string& address, int cpu)
    : listening_(address),
      epoll_(opened(epoll_create1(EPOLL_CLOEXEC), "cannot create the echo loop's epoll")),
      stop_event_(opened(eventfd(0, EFD_CLOEXEC), "cannot create the echo loop's event")),
      received_(kReadBytes) {
  watch(listening_.fd());
  watch(stop_event_.get());
  thread_ = start_thread("the echo loop", [this, cpu] {
    if (cpu >= 0) pin_this_thread({cpu});
    run();
  });
}

EchoLoop::~EchoLoop() { close(); }

void EchoLoop::close() {
  stopping_.store(true, std::memory_order_relaxed);
  eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
  clients_.clear();
}

void EchoLoop::run() {
  std::array<epoll_event, kEventsAtOnce> events;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const int ready = epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listening_.fd()) {
        welcome();
      } else if (fd != stop_event_.get()) {
        serve(fd);
      }
    }
  }
}

void EchoLoop::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch a socket");
  }
}

void EchoLoop::welcome() {
  int socket = -1;
  while (listening_.accept(socket) == ListeningSocket::Accepted::kClient) {
    Descriptor owned(socket);
    try {
      watch(socket);
      clients_[socket].socket = std::move(owned);
    } catch (const std::system_error&) {
      clients_.erase(socket);  // the client sees its connection closed
    }
  }
}

void EchoLoop::serve(int fd) {
  const auto found = clients_.find(fd);
  if (found == clients_.end()) return;
  const ssize_t count = recv(fd, received_.data(), received_.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool alive =
      count > 0 &&
      answer(found->second, std::span(received_).first(static_cast<std::size_t>(count)));
  if (!alive) clients_.erase(found);
}

// False where the connection has to go.
bool EchoLoop::answer(Client& client, std::span<const std::byte> bytes) try {
  if (!client.begun.empty()) {
    client.begun.insert(client.begun.end(), bytes.begin(), bytes.end());
    bytes = client.begun;
  }
  answers_.clear();
  while (const std::size_t used = decode_request(bytes, request_)) {
    bytes = bytes.subspan(used);
    answers_.resize(answers_.size() + kResponseBytes);
    encode_response({Status::kOk, request_.header.class_id, request_.header.request_id},
                    std::span(answers_).last<kResponseBytes>());
  }
  client.begun = std::vector<std::byte>(bytes.begin(), bytes.end());
  return answers_.empty() || send(client.socket.get(), answers_.data(), answers_.size(),
                                  MSG_NOSIGNAL) == static_cast<ssize_t>(answers_.size());
} catch (const ProtocolError&) {
  return false;
}

}  // namespace poolpilot
