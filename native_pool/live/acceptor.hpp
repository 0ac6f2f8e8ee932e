// Takes clients in, on a thread of its own.
//
// Where the system has no descriptor or memory for the next client, that client waits in the
// backlog of the socket, which is ready all the time: the acceptor pauses, and does not spin.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "live/listening_socket.hpp"
#include "pool/snapshot.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

class Acceptor {
 public:
  // Binds and listens; `stopping` ends the thread. Throws as ListeningSocket does, and
  // std::system_error when the system refuses.
  Acceptor(const std::string& address, const std::atomic<bool>& stopping);

  // Calls `welcome` with the socket of every new client from now on, on a thread that is pinned to
  // `cpus`; none leaves it free. Throws std::system_error when the system refuses the thread.
  void start(const std::vector<int>& cpus, std::function<void(int)> welcome);
  // Once `stopping` is set; returns when the thread has ended. Safe before a start.
  void stop();
  // After the stop, once: hands over the sockets of those clients that have connected by now and
  // were not yet accepted, and of nobody who connects meanwhile. At the limit of descriptors it has
  // one left, and needs no second where each socket is closed before the next.
  void empty_backlog(const std::function<void(int)>& turn_away);

  // The address clients connect to.
  const std::string& address() const { return listening_.address(); }

  void add_counts(PoolSnapshot& snapshot) const;

 private:
  void run(const std::function<void(int)>& welcome);

  const std::atomic<bool>& stopping_;
  const ListeningSocket listening_;
  Descriptor stop_event_;  // until the thread has ended, and then room for another descriptor
  // Times that the system had no descriptor or memory for the next client, which then waited.
  // Relaxed, it orders nothing.
  std::atomic<std::int64_t> shortages_{0};
  std::thread thread_;
};

}  // namespace poolpilot
