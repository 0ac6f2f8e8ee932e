// A client of a soak: it knows of every request it has sent what became of it.
//
// A request counts as sent once all of it has reached the system of the server. A Unix socket says
// so by taking it, TCP by its acknowledgement, for which a client waits before it closes. What is
// not acknowledged although the server has closed was refused: all that had come in before the
// server shut the socket is acknowledged with the end of the stream. So both sides can agree on a
// number, whoever closes, and when.
#pragma once

#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/protocol.hpp"
#include "load/connecting.hpp"
#include "load/sockets.hpp"
#include "system/descriptor.hpp"

namespace poolpilot {

// After a client's end sent == completed + failed + refused + cancelled.
struct ClientTally {
  std::int64_t sent = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t refused = 0;
  std::int64_t cancelled = 0;    // the connection ended before the answer was read
  std::int64_t undelivered = 0;  // not sent: the server's system never had them whole
  std::int64_t wrong = 0;        // answers out of order, or to nothing
  std::int64_t hung = 0;         // waited in vain on a connection that was there
  std::int64_t connections = 0;

  void add(const ClientTally& other) {
    sent += other.sent;
    completed += other.completed;
    failed += other.failed;
    refused += other.refused;
    cancelled += other.cancelled;
    undelivered += other.undelivered;
    wrong += other.wrong;
    hung += other.hung;
    connections += other.connections;
  }
};

class SoakClient {
 public:
  static constexpr int kPatienceMs = 60'000;  // ends a test that has failed

  // Not connected where the system, or the server, has no place for it. Nobody connects while
  // `connecting` is held exclusively.
  SoakClient(const std::string& address, std::shared_mutex& connecting, ClientTally& tally)
      : tally_(tally) {
    const std::shared_lock lock(connecting);
    const load::Address server = load::parse_address(address);
    tcp_ = server.storage.ss_family == AF_INET;
    load::BegunConnect begun = load::begin_connect(server, std::nullopt);
    if (begun.error != 0 && begun.error != EINPROGRESS) return;
    socket_ = std::move(begun.socket);
    if (begun.error == 0 || (await(POLLOUT) && load::outcome_of_connect(socket_.get()) == 0)) {
      ++tally_.connections;
    } else {
      socket_ = Descriptor();
    }
  }

  ~SoakClient() { end(); }
  SoakClient(const SoakClient&) = delete;
  SoakClient& operator=(const SoakClient&) = delete;

  bool is_connected() const { return socket_.valid(); }

  // Puts a request into what send() sends.
  void add(const std::vector<Step>& steps, std::uint16_t class_id) {
    const auto frame = encode_request({{class_id, added_++, 0}, steps});
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
    ends_.push_back(offset_ + bytes_.size());
  }

  void add_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  // False once the server has closed.
  bool send() {
    bool open = is_connected();
    std::size_t done = 0;
    while (open && done < bytes_.size()) {
      const ssize_t sent =
          ::send(socket_.get(), bytes_.data() + done, bytes_.size() - done, MSG_NOSIGNAL);
      if (sent >= 0) done += static_cast<std::size_t>(sent);
      open = sent >= 0 || (errno == EAGAIN && await(POLLOUT));
    }
    offset_ += done;
    bytes_.clear();
    return open;
  }

  // Reads until `number` answers have come in all, or the server has closed.
  void read_until(std::size_t number) {
    while (is_connected() && !over_ && answered_ < number) read_once();
  }
  void read_all() { read_until(ends_.size()); }
  void read_until_closed() {
    while (is_connected() && !over_) read_once();
  }

  void finish_sending() {
    if (!is_connected()) return;
    shutdown(socket_.get(), SHUT_WR);
    end_bytes_ = tcp_ ? 1 : 0;
  }

  std::size_t added() const { return ends_.size(); }

  // Closes, with a reset where it is asked for, and counts.
  void end(bool reset = false) {
    if (!is_connected()) return;
    const auto sent = static_cast<std::int64_t>(std::ranges::upper_bound(ends_, delivered_bytes()) -
                                                ends_.begin());
    tally_.sent += sent;
    tally_.undelivered += static_cast<std::int64_t>(ends_.size()) - sent;
    tally_.cancelled += sent - static_cast<std::int64_t>(answered_);
    if (reset) load::reset_on_close(socket_.get());
    socket_ = Descriptor();
  }

 private:
  bool await(short events) {
    pollfd watched{socket_.get(), events, 0};
    if (poll(&watched, 1, kPatienceMs) > 0) return true;
    ++tally_.hung;
    return false;
  }

  // TCP counts the end of the stream as a byte.
  std::size_t unacknowledged_bytes() const {
    int bytes = 0;
    ioctl(socket_.get(), SIOCOUTQ, &bytes);
    return static_cast<std::size_t>(std::max(bytes - end_bytes_, 0));
  }

  bool is_closed_by_server() const {
    pollfd watched{socket_.get(), POLLRDHUP, 0};
    return poll(&watched, 1, 0) > 0;
  }

  std::size_t delivered_bytes() const {
    if (!tcp_) return offset_;
    while (unacknowledged_bytes() > 0 && !is_closed_by_server()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return offset_ - unacknowledged_bytes();
  }

  void read_once() {
    if (!await(POLLIN)) {
      over_ = true;
      return;
    }
    const ssize_t got =
        recv(socket_.get(), buffer_.data() + buffered_, buffer_.size() - buffered_, 0);
    if (got <= 0) {
      over_ = got == 0 || (errno != EAGAIN && errno != EINTR);
      return;
    }
    buffered_ += static_cast<std::size_t>(got);
    std::span<const std::byte> rest = std::span(buffer_).first(buffered_);
    Response response;
    while (const std::size_t used = decode_response(rest, response)) {
      take(response);
      rest = rest.subspan(used);
    }
    buffered_ = rest.size();
    std::ranges::copy(rest, buffer_.begin());
  }

  void take(const Response& response) {
    if (response.request_id != answered_ || answered_ >= ends_.size()) {
      ++tally_.wrong;
      return;
    }
    ++answered_;
    switch (response.status) {
      case Status::kOk:
        ++tally_.completed;
        break;
      case Status::kRefused:
        ++tally_.refused;
        break;
      default:
        ++tally_.failed;
    }
  }

  ClientTally& tally_;
  bool tcp_ = false;
  Descriptor socket_;
  std::vector<std::byte> bytes_;   // not sent yet
  std::vector<std::size_t> ends_;  // of the requests, in the stream of what is sent
  std::uint64_t added_ = 0;
  std::size_t offset_ = 0;  // bytes that the socket has taken
  int end_bytes_ = 0;       // of the end of the stream, once it was sent
  std::size_t answered_ = 0;
  bool over_ = false;  // no answer will come
  std::size_t buffered_ = 0;
  std::array<std::byte, 4096> buffer_;
};

}  // namespace poolpilot
