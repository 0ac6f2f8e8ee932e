// A small server for tests of the load generator: decodes requests and answers as it is told.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "live/protocol.hpp"
#include "system/descriptor.hpp"

namespace poolpilot::load {

using Bytes = std::vector<std::byte>;

inline Bytes response_to(const Request& request, Status status = Status::kOk) {
  Bytes frame(kResponseBytes);
  encode_response({status, request.header.class_id, request.header.request_id},
                  std::span<std::byte, kResponseBytes>(frame.data(), kResponseBytes));
  return frame;
}

// Answers every request with what `behaviour` returns; without a value it closes the connection.
class TestServer {
 public:
  using Behaviour = std::function<std::optional<Bytes>(const Request&)>;

  explicit TestServer(Behaviour behaviour, bool local = false, int backlog = 1024,
                      const std::string& host = "127.0.0.1")
      : behaviour_(std::move(behaviour)), backlog_(backlog) {
    local ? listen_local() : listen_tcp(host);
    thread_ = std::thread([this] { serve(); });
  }
  ~TestServer() {
    const std::uint64_t one = 1;
    EXPECT_EQ(write(stop_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    thread_.join();
    if (!path_.empty()) unlink(path_.c_str());
  }

  const std::string& address() const { return address_; }

  std::size_t accepted() const { return accepted_; }

  // Once this many requests have come in.
  void await(std::size_t requests) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return requests_.size() >= requests; });
  }
  std::vector<Request> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  struct Client {
    Descriptor socket;
    Bytes input;
  };

  void listen_on(const sockaddr* name, socklen_t length) {
    listener_ = Descriptor(socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(listener_.get(), name, length), 0);
    ASSERT_EQ(listen(listener_.get(), backlog_), 0);
  }
  void listen_tcp(const std::string& host) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    ASSERT_EQ(inet_pton(AF_INET, host.c_str(), &name.sin_addr), 1);
    listen_on(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
    socklen_t length = sizeof(name);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &length);
    address_ = "tcp:" + host + ":" + std::to_string(ntohs(name.sin_port));
  }
  void listen_local() {
    path_ = testing::TempDir() + "load_test_" + std::to_string(getpid()) + ".socket";
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path_.copy(name.sun_path, sizeof(name.sun_path) - 1);
    listen_on(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
    address_ = "unix:" + path_;
  }

  void watch(int descriptor) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    ASSERT_EQ(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), 0);
  }

  void serve() {
    watch(stop_.get());
    watch(listener_.get());
    std::array<epoll_event, 64> ready;
    while (true) {
      const int count = epoll_wait(epoll_.get(), ready.data(), ready.size(), -1);
      for (int i = 0; i < count; ++i) {
        const int descriptor = ready[static_cast<std::size_t>(i)].data.fd;
        if (descriptor == stop_.get()) return;
        if (descriptor == listener_.get()) {
          welcome();
        } else if (!serve(clients_.at(descriptor))) {
          clients_.erase(descriptor);
        }
      }
    }
  }

  void welcome() {
    const int client = accept(listener_.get(), nullptr, nullptr);
    if (client < 0) return;  // it has gone again
    clients_[client].socket = Descriptor(client);
    watch(client);
    ++accepted_;
  }

  bool serve(Client& client) {
    std::array<std::byte, 4096> bytes;
    const ssize_t got = recv(client.socket.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    client.input.insert(client.input.end(), bytes.begin(), bytes.begin() + got);
    Request request;
    while (const std::size_t used = decode_request(client.input, request)) {
      client.input.erase(client.input.begin(),
                         client.input.begin() + static_cast<std::ptrdiff_t>(used));
      const std::optional<Bytes> answer = behaviour_(request);
      remember(request);
      if (!answer) return false;
      send(client.socket.get(), answer->data(), answer->size(), MSG_NOSIGNAL);
    }
    return true;
  }

  void remember(const Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    arrived_.notify_all();
  }

  Behaviour behaviour_;
  const int backlog_;
  std::atomic<std::size_t> accepted_{0};
  std::string address_;
  std::string path_;
  Descriptor listener_;
  Descriptor stop_{eventfd(0, EFD_CLOEXEC)};
  Descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  std::unordered_map<int, Client> clients_;  // by descriptor
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Request> requests_;
  std::thread thread_;
};

inline std::optional<Bytes> echo(const Request& request) { return response_to(request); }

}  // namespace poolpilot::load
