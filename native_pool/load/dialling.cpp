#include "load/dialling.hpp"

#include <cassert>
#include <cerrno>
#include <utility>

#include "load/connecting.hpp"
#include "system/clock.hpp"

namespace poolpilot::load {

Dialling::Dialling(const Settings& settings, const Address& server, Poller& poller)
    : settings_(settings),
      server_(server),
      poller_(poller),
      clients_(settings.connections, local_ports()) {}

std::optional<Fault> Dialling::begin(Connection& connection, std::size_t index,
                                     std::span<const std::byte> frame) {
  bool sent = false;
  const auto fault = try_to_send(connection, index, frame, sent);
  if (fault || sent) return fault;
  const std::int64_t time_ns = now_ns();
  const auto patience_ns = static_cast<std::int64_t>(settings_.connect_timeout_s * 1e9);
  const std::int64_t retry_ns = time_ns + kBeginAnewNs;
  waiting_[index] = {{frame.begin(), frame.end()}, time_ns + patience_ns, retry_ns};
  retries_.push_back({retry_ns, index});
  return std::nullopt;
}

// A connect over loopback is mostly there at once, though the system says it is in progress.
std::optional<Fault> Dialling::try_to_send(Connection& connection, std::size_t index,
                                           std::span<const std::byte> frame, bool& sent) {
  BegunConnect begun = begin_connect(server_, clients_.of(settings_.part.in_whole(index)));
  if (!begun.is_open() && !begun.may_follow()) return fault_of(begun.error);
  if (begun.error == EAGAIN) return std::nullopt;
  if (settings_.reset_on_close) reset_on_close(begun.socket.get());
  connection.open(std::move(begun.socket));
  const int error = connection.send(frame);
  if (error != 0 && error != EAGAIN) return fault_of(error);
  sent = error == 0;
  if (sent) {
    poller_.watch(connection.descriptor(), index);
  } else {
    poller_.watch_connecting(connection.descriptor(), index);
  }
  return std::nullopt;
}

std::optional<Fault> Dialling::decided(Connection& connection, std::size_t index) {
  const auto waiting = waiting_.find(index);
  assert(waiting != waiting_.end());
  if (const int error = outcome_of_connect(connection.descriptor())) return fault_of(error);
  const int error = connection.send(waiting->second.frame);
  if (error == EAGAIN) return std::nullopt;
  if (error != 0) return fault_of(error);
  waiting_.erase(waiting);
  return std::nullopt;
}

std::int64_t Dialling::next_retry_ns() const {
  return retries_.empty() ? kNever : retries_.front().time_ns;
}

std::optional<std::size_t> Dialling::take_due(std::int64_t time_ns) {
  while (!retries_.empty() && retries_.front().time_ns <= time_ns) {
    const Retry retry = retries_.front();
    retries_.pop_front();
    const auto waiting = waiting_.find(retry.index);
    // Another request of the connection may wait by now.
    if (waiting != waiting_.end() && waiting->second.retry_ns == retry.time_ns) return retry.index;
  }
  return std::nullopt;
}

std::optional<Fault> Dialling::begin_anew(Connection& connection, std::size_t index) {
  const auto waiting = waiting_.find(index);
  assert(waiting != waiting_.end() && !connection.is_open());
  const std::int64_t time_ns = now_ns();
  if (time_ns >= waiting->second.give_up_ns) return Fault::kNotConnected;
  bool sent = false;
  const auto fault = try_to_send(connection, index, waiting->second.frame, sent);
  if (fault) return fault;
  if (sent) {
    waiting_.erase(waiting);
  } else {
    waiting->second.retry_ns = time_ns + kBeginAnewNs;
    retries_.push_back({waiting->second.retry_ns, index});
  }
  return std::nullopt;
}

}  // namespace poolpilot::load
