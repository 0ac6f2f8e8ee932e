// The load generator where it runs on the pool's processors: a thread of no group.
//
// Owns the queue of what it has yet to send. Calls the engine, and the client for when it sends.
#pragma once

#include <cstdint>
#include <vector>

#include "queues/ring.hpp"
#include "sim/client.hpp"
#include "sim/engine.hpp"

namespace poolpilot::sim {

class ClientThread {
 public:
  ClientThread(Engine& engine, const Client& client, std::vector<Connection>& connections)
      : engine_(engine), client_(client), connections_(connections) {}

  // A request of the connection takes its turn.
  void queue(std::uint32_t connection) {
    to_send_.push_back(connection);
    if (to_send_.size() > 1) return;
    engine_.schedule(whole_ns(engine_.machine().wake_us * 1e3), kClientThread);
  }

  // Its burst is over; returns the connection whose request it has sent, kNobody if it only woke.
  std::uint32_t burst_over() {
    std::uint32_t sent = kNobody;
    if (awake_) {
      sent = to_send_.front();
      to_send_.pop_front();
      client_.sends_now(sent, engine_.now_ns(), connections_);
    }
    awake_ = !to_send_.empty();
    if (awake_) engine_.burst(kClientThread, engine_.machine().client_us * 1e3, Phase::kClient);
    return sent;
  }

 private:
  Engine& engine_;
  const Client& client_;
  std::vector<Connection>& connections_;
  Ring<std::uint32_t> to_send_;  // connections
  bool awake_ = false;
};

}  // namespace poolpilot::sim
