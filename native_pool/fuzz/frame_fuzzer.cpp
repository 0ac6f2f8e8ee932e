// What the frame parser promises about any bytes. The limits are restated here: the encoder shares
// the parser's checks, so a round trip alone would not notice one that is missing.
#include "fuzz/frame_fuzzer.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <vector>

#include "live/protocol.hpp"

namespace poolpilot {
namespace {

using Bytes = std::span<const std::byte>;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

void require_step_within_limits(const Step& step) {
  require(step.op >= Op::kCpu && step.op <= Op::kDeclare, "a step is known");
  const unsigned flags = step.op == Op::kAcquire ? step.aux & 15U : step.aux;
  require(flags <= 1, "a step's flags are defined");
  if (step.op == Op::kCpu || step.op == Op::kWait) {
    require(step.value <= 10'000'000, "a step lasts 10 s at most");
  }
  if (step.op == Op::kDeclare) {
    require(step.kind_or_latch < 3, "a session's priority is known");
    require(step.value <= 8, "a declared class is below 8, or none");
  }
  if (step.op == Op::kWait) require(step.kind_or_latch < 4, "a wait kind is known");
  if (step.op == Op::kAcquire || step.op == Op::kRelease) {
    require(step.kind_or_latch < 64, "a latch number is below 64");
  }
  if (step.op == Op::kAcquire) require(step.value <= 1'000'000, "a waiter costs 1 ms at most");
}

void require_within_limits(const Request& request) {
  require(request.header.class_id < 8, "a request's class is below 8");
  require(request.steps.size() <= 256, "a request has 256 steps at most");
  std::uint64_t program_us = 0;
  for (const Step& step : request.steps) {
    require_step_within_limits(step);
    if (step.op == Op::kCpu || step.op == Op::kWait) program_us += step.value;
  }
  require(program_us <= 60'000'000, "a program lasts 60 s at most");
}

// A socket delivers any part of a frame first.
template <typename Message, typename Decode>
void require_parts_wait(Bytes frame, Decode decode) {
  Message message;
  for (std::size_t length = 0; length < frame.size(); ++length) {
    require(decode(frame.first(length), message) == 0, "a part of a frame waits for the rest");
  }
}

void check_request(Bytes frame, const Request& request) {
  require_within_limits(request);
  require(std::ranges::equal(encode_request(request), frame), "a request is encoded as it came");
}

void check_response(Bytes frame, const Response& response) {
  require(response.status <= Status::kRefused, "a status is known");
  require(response.class_id < 8, "a response's class is below 8");
  std::array<std::byte, kResponseBytes> encoded;
  encode_response(response, encoded);
  require(std::ranges::equal(encoded, frame), "a response is encoded as it came");
}

// Reads frame by frame as the ends of a connection do, until bytes are missing or refused. Only the
// reading of a new frame may refuse: an error from a check is a broken promise and leaves.
template <typename Message, typename Decode, typename Check>
void read_stream(Bytes bytes, Decode decode, Check check) {
  Message message;
  const auto next = [&]() -> std::size_t {
    try {
      return decode(bytes, message);
    } catch (const ProtocolError&) {
      return 0;
    }
  };
  while (const std::size_t used = next()) {
    require(used <= bytes.size(), "a frame is no longer than its bytes");
    check(bytes.first(used), message);
    require_parts_wait<Message>(bytes.first(used), decode);
    bytes = bytes.subspan(used);
  }
}

}  // namespace
}  // namespace poolpilot

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poolpilot;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  read_stream<Request>(bytes, decode_request, check_request);
  read_stream<Response>(bytes, decode_response, check_response);
  return 0;
}
