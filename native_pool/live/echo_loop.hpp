// The floor under every server of this protocol: one thread, one epoll, each request answered with
// "ok" as soon as it is read, its steps not run. Benchmarks set the pool beside it; nothing else
// uses it. It serves clients that wait for their answers: one whose socket takes no more is closed.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "live/listening_socket.hpp"
#include "live/protocol.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

class EchoLoop {
 public:
  // Listens and starts to serve on one processor, or on any with -1. Throws std::invalid_argument
  // for an address that is no loopback, and std::system_error when the system refuses.
  EchoLoop(const std::string& address, int cpu);
  ~EchoLoop();
  EchoLoop(const EchoLoop&) = delete;
  EchoLoop& operator=(const EchoLoop&) = delete;

  // Ends the thread and closes every connection; a second call does nothing.
  void close();

  const std::string& address() const { return listening_.address(); }

 private:
  struct Client {
    Descriptor socket;
    std::vector<std::byte> begun;  // of a frame whose rest is still to come
  };

  void run();
  void watch(int fd);
  void welcome();
  void serve(int fd);
  bool answer(Client& client, std::span<const std::byte> bytes);

  ListeningSocket listening_;
  Descriptor epoll_;
  Descriptor stop_event_;
  // The loop's own.
  std::unordered_map<int, Client> clients_;
  std::vector<std::byte> received_;
  std::vector<std::byte> answers_;
  Request request_;
  // Relaxed: it only ends the loop, and joining the thread orders the rest.
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace poolpilot
