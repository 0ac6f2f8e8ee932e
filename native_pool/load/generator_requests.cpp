// What happens to one request: it is sent, answered or lost.
#include "load/generator.hpp"
#include "load/random.hpp"
#include "system/clock.hpp"

namespace poolpilot::load {
namespace {

// So that a server that refuses everybody is not asked without rest.
constexpr std::int64_t kPauseAfterFaultNs = 10'000'000;

}  // namespace

// A scheduled time of 0 means now, read once the frame is drawn.
void LoadGenerator::send_request(Connection& connection, std::uint16_t class_id,
                                 std::int64_t scheduled_ns) {
  const std::span<std::byte> frame = programs_[class_id].next();
  connection.class_id = class_id;
  connection.request_id = settings_.part.in_whole(requests_++) + 1;
  connection.sent_ns = scheduled_ns != 0 ? scheduled_ns : now_ns();
  stamp_request(frame, connection.request_id, static_cast<std::uint64_t>(connection.sent_ns));
  connection.waiting = true;
  ++under_way_;
  tally_.by_class[class_id].sent.add_one();
  if (const auto fault = send(connection, frame)) lose(connection, *fault, false);
}

std::optional<Fault> LoadGenerator::send(Connection& connection, std::span<const std::byte> frame) {
  if (settings_.reconnect) {
    const auto fault = dialling_.begin(connection, index_of(connection), frame);
    count_opened(connection);
    return fault;
  }
  const int error = connection.send(frame);
  return error == 0 ? std::nullopt : std::optional(fault_of(error));
}

void LoadGenerator::on_event(Connection& connection) {
  const std::size_t index = index_of(connection);
  if (!dialling_.waits(index)) return receive(connection);
  if (const auto fault = dialling_.decided(connection, index)) lose(connection, *fault);
}

void LoadGenerator::begin_connects_anew() {
  const std::int64_t time_ns = now_ns();
  while (const auto index = dialling_.take_due(time_ns)) {
    Connection& connection = connections_[*index];
    close(connection);
    const auto fault = dialling_.begin_anew(connection, *index);
    count_opened(connection);
    if (fault) lose(connection, *fault);
  }
}

void LoadGenerator::receive(Connection& connection) {
  responses_.clear();
  const std::uint64_t request_id = connection.request_id;
  const auto fault = connection.receive(buffer_, responses_);
  for (const Response& response : responses_) take_answer(connection, response);
  // The fault of a connection that has been answered is not that of the one made after it.
  const bool replaced = settings_.reconnect && connection.request_id != request_id;
  if (fault && connection.is_open() && !replaced) lose(connection, *fault);
}

void LoadGenerator::take_answer(Connection& connection, const Response& response) {
  if (!connection.is_open()) return;
  if (!connection.waiting || response.request_id != connection.request_id) {
    return tally_.unexpected.add_one();
  }
  if (response.class_id != connection.class_id) {
    return lose(connection, Fault::kMalformed);
  }
  connection.waiting = false;
  --under_way_;
  ClassTally& tally = tally_.by_class[connection.class_id];
  if (response.status == Status::kOk) {
    tally.completed.add_one();
    tally.latency_us.record(static_cast<std::uint64_t>(now_ns() - connection.sent_ns) / 1'000);
  } else if (response.status == Status::kRefused) {
    tally.refused.add_one();
  } else {
    tally.failed.add_one();
  }
  if (settings_.reconnect) close(connection);
  if (!sending_) return;
  if (response.status == Status::kRefused) return try_again(connection);
  continue_with(connection);
}

// An open loop does not wait for anybody: it goes on with its next arrival.
void LoadGenerator::try_again(Connection& connection) {
  if (open_loop_) return continue_with(connection);
  const std::int64_t pause_ns = exponential_ns(pauses_random_, kRetryPauseMs * 1e6);
  pauses_.push({now_ns() + pause_ns, index_of(connection)});
}

// What a connection does after an answer.
void LoadGenerator::continue_with(Connection& connection) {
  if (open_loop_ && !backlog_.empty()) {
    const Arrival arrival = backlog_.front();
    backlog_.pop_front();
    tally_.backlog.set(backlog_.size());
    return send_request(connection, arrival.class_id, arrival.scheduled_ns);
  }
  if (open_loop_) return idle_.push_back(index_of(connection));
  const double think_ns = settings_.classes[connection.class_id].think_ms * 1e6;
  if (think_ns <= 0.0) return send_request(connection, connection.class_id, 0);
  pauses_.push({now_ns() + exponential_ns(pauses_random_, think_ns), index_of(connection)});
}

// `sent` as a whole, as far as this end knows.
void LoadGenerator::lose(Connection& connection, Fault fault, bool sent) {
  tally_.faults[static_cast<std::size_t>(fault)].add_one();
  if (connection.waiting) {
    connection.waiting = false;
    --under_way_;
    ClassTally& tally = tally_.by_class[connection.class_id];
    tally.lost.add_one();
    if (!sent || !has_delivered(connection)) tally.undelivered.add_one();
  }
  close(connection);
  if (!settings_.reconnect) return;
  const std::size_t index = index_of(connection);
  dialling_.forget(index);
  if (sending_) pauses_.push({now_ns() + kPauseAfterFaultNs, index});
}

bool LoadGenerator::has_delivered(const Connection& connection) const {
  if (!connection.is_open() || dialling_.waits(index_of(connection))) return false;
  return address_.storage.ss_family == AF_UNIX || connection.has_delivered();
}

std::size_t LoadGenerator::index_of(const Connection& connection) const {
  return static_cast<std::size_t>(&connection - connections_.data());
}

bool LoadGenerator::can_send(const Connection& connection) const {
  return settings_.reconnect || connection.is_open();
}

void LoadGenerator::close(Connection& connection) {
  if (!connection.is_open()) return;
  connection.close();
  tally_.connections.set(--connected_);
}

void LoadGenerator::count_opened(const Connection& connection) {
  if (connection.is_open()) tally_.connections.set(++connected_);
}

}  // namespace poolpilot::load
