// Clients as a server meets them: polite ones, and those that die, fall silent or do not read.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/live/small_pool.hpp"
#include "tests/live/soak_client.hpp"

namespace poolpilot {

inline constexpr std::array kMannerNames{"polite",    "pipelined",      "killed",     "torn",
                                         "malformed", "ended_sending",  "late",       "half_open",
                                         "vanished",  "in_transaction", "slow_reader"};

// What the clients of one thread do, one client after the other.
class Misbehaviour {
 public:
  static constexpr std::uint16_t kClass = 2;  // of all their requests

  Misbehaviour(std::string address, std::shared_mutex& connecting, std::mt19937::result_type seed)
      : address_(std::move(address)), connecting_(connecting), random_(seed) {}

  // One that does not wait for the server to close it.
  void meet_brief_one() { meet(below(kHalfOpen)); }
  // One of any kind but a slow reader, which takes far more requests than all others.
  void meet_one() { below(20) == 0 ? meet(kHalfOpen + below(3)) : meet_brief_one(); }
  void meet_slow_reader() { meet(kSlowReader); }

  // One that sends so many requests for nothing, a burst at a time, unless the server closes.
  void meet_hasty_one(std::int64_t requests) {
    SoakClient client(address_, connecting_, tally_);
    bool open = client.is_connected();
    if (!open) return pause(1'000);
    for (std::int64_t left = requests; open && left > 0; left -= kBurst) {
      for (std::int64_t i = 0; i < std::min(left, kBurst); ++i) client.add({}, kClass);
      open = client.send();
      client.read_all();
    }
  }

  // The sockets of those that have vanished go away after all.
  void forget_vanished() { vanished_.clear(); }

  const ClientTally& tally() const { return tally_; }
  const std::array<std::int64_t, kMannerNames.size()>& met() const { return met_; }

 private:
  static constexpr std::size_t kHalfOpen = 7;
  static constexpr std::size_t kVanished = 8;
  static constexpr std::size_t kSlowReader = 10;
  static constexpr std::int64_t kBurst = 200;
  static constexpr int kMostUnread = 1'000'000;

  void meet(std::size_t manner) {
    static constexpr std::array kWays{
        &Misbehaviour::be_polite,    &Misbehaviour::pipeline,      &Misbehaviour::be_killed,
        &Misbehaviour::tear_a_frame, &Misbehaviour::send_nonsense, &Misbehaviour::end_sending,
        &Misbehaviour::read_late,    &Misbehaviour::stay_silent,   &Misbehaviour::vanish,
        &Misbehaviour::hold_a_latch, &Misbehaviour::never_read};
    static_assert(kWays.size() == kMannerNames.size());
    auto client = std::make_unique<SoakClient>(address_, connecting_, tally_);
    if (!client->is_connected()) return pause(1'000);
    ++met_[manner];
    (this->*kWays[manner])(*client);
    if (manner == kVanished) vanished_.push_back(std::move(client));
  }

  std::size_t below(std::size_t end) { return random_() % end; }

  void pause(std::size_t most_us) {
    std::this_thread::sleep_for(std::chrono::microseconds(below(most_us)));
  }

  std::vector<Step> steps() {
    switch (below(6)) {
      case 0:
        return {cpu(20)};
      case 1:
        return {reported(200), cpu(5)};
      case 2:
        return {begin(), acquire(1), reported(50), release(1), commit()};
      case 3:
        return {declare(static_cast<std::uint32_t>(below(2)), SessionPriority::kHigh)};
      case 4:
        return {silent(100)};
      default:
        return {};
    }
  }

  void send_some(SoakClient& client, std::size_t most) {
    for (std::size_t left = 1 + below(most); left > 0; --left) client.add(steps(), kClass);
    client.send();
  }

  void be_polite(SoakClient& client) {
    for (std::size_t left = 1 + below(20); left > 0; --left) {
      send_some(client, 1);
      client.read_all();
    }
  }

  void pipeline(SoakClient& client) {
    send_some(client, 40);
    client.read_all();
  }

  void be_killed(SoakClient& client) {
    send_some(client, 40);
    if (below(2) == 0) pause(2'000);
    if (below(2) == 0) client.read_until(below(client.added()));
    client.end(below(2) == 0);
  }

  void tear_a_frame(SoakClient& client) {
    send_some(client, 10);
    const auto frame = encode_request({{kClass, 0, 0}, {cpu(1)}});
    client.add_bytes(std::span(frame).first(1 + below(frame.size() - 1)));
    client.send();
    if (below(2) == 0) client.read_all();
    client.end(below(2) == 0);
  }

  void send_nonsense(SoakClient& client) {
    for (std::size_t left = below(10); left > 0; --left) client.add(steps(), kClass);
    client.add_bytes(std::array<std::byte, 32>{});
    client.send();
    client.read_until_closed();
  }

  void end_sending(SoakClient& client) {
    send_some(client, 20);
    client.finish_sending();
    client.read_until_closed();
  }

  void read_late(SoakClient& client) {
    send_some(client, 100);
    pause(5'000);
    client.read_all();
  }

  void stay_silent(SoakClient& client) {
    if (below(2) == 0) send_some(client, 3);
    client.read_until_closed();
  }

  void vanish(SoakClient& client) {
    send_some(client, 3);
    const auto frame = encode_request({{kClass, 0, 0}, {}});
    client.add_bytes(std::span(frame).first(below(frame.size())));
    client.send();
  }

  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all of kWays are of one type
  void hold_a_latch(SoakClient& client) {
    client.add({begin(), acquire(1)}, kClass);
    client.send();
    client.read_until_closed();
  }

  // Until the server has no room for a further answer.
  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all of kWays are of one type
  void never_read(SoakClient& client) {
    bool open = true;
    for (int sent = 0; open && sent < kMostUnread; sent += 500) {
      for (int i = 0; i < 500; ++i) client.add({}, kClass);
      open = client.send();
    }
  }

  const std::string address_;
  std::shared_mutex& connecting_;
  std::mt19937 random_;
  ClientTally tally_;
  std::array<std::int64_t, kMannerNames.size()> met_{};
  std::vector<std::unique_ptr<SoakClient>> vanished_;
};

}  // namespace poolpilot
