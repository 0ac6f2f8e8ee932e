// The requests of a load that makes a connection for each of them, while that connection is not
// there yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "load/client_addresses.hpp"
#include "load/connection.hpp"
#include "load/poller.hpp"
#include "load/settings.hpp"
#include "load/sockets.hpp"

namespace poolpilot::load {

// Faults are told to the caller, who forgets the request. One without a fault is sent, or will be.
// A connect that is not there after some milliseconds is begun anew, as in connect_all().
class Dialling {
 public:
  Dialling(const Settings& settings, const Address& server, Poller& poller);

  std::optional<Fault> begin(Connection& connection, std::size_t index,
                             std::span<const std::byte> frame);

  // Whether the request of this connection waits for its connect.
  bool waits(std::size_t index) const { return waiting_.contains(index); }

  // The poller has reported the connection: its connect is decided.
  std::optional<Fault> decided(Connection& connection, std::size_t index);

  // When the next connect is to be begun anew; kNever where none is under way.
  std::int64_t next_retry_ns() const;
  // Index of one whose time has come, once for each time; its socket is to be closed.
  std::optional<std::size_t> take_due(std::int64_t time_ns);
  std::optional<Fault> begin_anew(Connection& connection, std::size_t index);

  void forget(std::size_t index) { waiting_.erase(index); }

 private:
  struct Waiting {
    std::vector<std::byte> frame;
    std::int64_t give_up_ns;
    std::int64_t retry_ns;
  };
  struct Retry {
    std::int64_t time_ns;
    std::size_t index;
  };

  std::optional<Fault> try_to_send(Connection& connection, std::size_t index,
                                   std::span<const std::byte> frame, bool& sent);

  const Settings& settings_;
  const Address& server_;
  Poller& poller_;
  const ClientAddresses clients_;
  std::unordered_map<std::size_t, Waiting> waiting_;  // by index
  std::deque<Retry> retries_;  // in order of time, for all wait equally long; some are forgotten
};

}  // namespace poolpilot::load
