#include "live/protocol.hpp"

namespace poolpilot {
namespace {

template <typename T>
T read_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void write_at(std::span<std::byte> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

constexpr std::size_t kRequestIdOffset = kLengthBytes + 4;
constexpr std::size_t kSentOffset = kLengthBytes + 12;
constexpr std::size_t kStepCountOffset = kLengthBytes + 20;
constexpr std::size_t kStepsOffset = kLengthBytes + kRequestHeaderBytes;

void check_step(const Step& step) {
  const bool timed = step.op == Op::kCpu || step.op == Op::kWait;
  if (timed && step.value > kMaxStepUs) throw ProtocolError("step longer than 10 s");
  const auto flags = static_cast<std::uint16_t>(step.aux & ((1 << kSpinShift) - 1));
  if (flags > kReported || (step.op != Op::kAcquire && step.aux != flags)) {
    throw ProtocolError("undefined bits in a step");
  }
  switch (step.op) {
    case Op::kCpu:
    case Op::kBegin:
    case Op::kCommit:
      return;
    case Op::kDeclare:
      if (step.kind_or_latch > static_cast<std::uint8_t>(SessionPriority::kLow))
        throw ProtocolError("unknown session priority");
      if (step.value > kClasses) throw ProtocolError("declared class out of range");
      return;
    case Op::kWait:
      if (step.kind_or_latch >= kWaitKinds) throw ProtocolError("unknown wait kind");
      return;
    case Op::kAcquire:
      if (step.value > kMaxWaiterCostNs) throw ProtocolError("waiter cost above 1 ms");
      [[fallthrough]];
    case Op::kRelease:
      if (step.kind_or_latch >= kLatches) throw ProtocolError("latch number out of range");
      return;
  }
  throw ProtocolError("unknown step");
}

void check_steps(std::span<const Step> steps) {
  std::uint64_t program_us = 0;
  for (const Step& step : steps) {
    check_step(step);
    if (step.op == Op::kCpu || step.op == Op::kWait) program_us += step.value;
  }
  if (program_us > kMaxProgramUs) throw ProtocolError("program longer than 60 s");
}

void check_request_prefix(std::span<const std::byte> bytes) {
  const auto body = read_at<std::uint32_t>(bytes, 0);
  if (body < kRequestHeaderBytes || body > kMaxBodyBytes) {
    throw ProtocolError("frame length out of range");
  }
  if (bytes.size() < kLengthBytes + 4) return;
  if (read_at<std::uint8_t>(bytes, kLengthBytes) != kProtocolVersion) {
    throw ProtocolError("unknown protocol version");
  }
  if (read_at<std::uint8_t>(bytes, kLengthBytes + 1) != kRequestType) {
    throw ProtocolError("unknown frame type");
  }
  if (read_at<std::uint16_t>(bytes, kLengthBytes + 2) >= kClasses) {
    throw ProtocolError("class out of range");
  }
}

}  // namespace

std::vector<std::byte> encode_request(const Request& request) {
  if (request.steps.size() > kMaxSteps) throw ProtocolError("more than 256 steps");
  if (request.header.class_id >= kClasses) throw ProtocolError("class out of range");
  const std::size_t body = kRequestHeaderBytes + request.steps.size() * kStepBytes;
  std::vector<std::byte> frame(kLengthBytes + body);
  const std::span<std::byte> out(frame);
  write_at(out, 0, static_cast<std::uint32_t>(body));
  write_at(out, kLengthBytes, kProtocolVersion);
  write_at(out, kLengthBytes + 1, kRequestType);
  write_at(out, kLengthBytes + 2, request.header.class_id);
  stamp_request(out, request.header.request_id, request.header.sent_ns);
  write_at(out, kStepCountOffset, static_cast<std::uint16_t>(request.steps.size()));
  write_at(out, kStepCountOffset + 2, std::uint16_t{0});
  check_steps(request.steps);
  for (std::size_t i = 0; i < request.steps.size(); ++i) {
    write_at(out, kStepsOffset + i * kStepBytes, request.steps[i]);
  }
  return frame;
}

void stamp_request(std::span<std::byte> frame, std::uint64_t request_id, std::uint64_t sent_ns) {
  write_at(frame, kRequestIdOffset, request_id);
  write_at(frame, kSentOffset, sent_ns);
}

std::size_t decode_request(std::span<const std::byte> bytes, Request& request) {
  if (bytes.size() < kLengthBytes) return 0;
  check_request_prefix(bytes);
  const auto body = read_at<std::uint32_t>(bytes, 0);
  if (bytes.size() < kLengthBytes + body) return 0;
  const auto count = read_at<std::uint16_t>(bytes, kStepCountOffset);
  if (read_at<std::uint16_t>(bytes, kStepCountOffset + 2) != 0) {
    throw ProtocolError("reserved bytes are not zero");
  }
  if (count > kMaxSteps || body != kRequestHeaderBytes + count * kStepBytes) {
    throw ProtocolError("frame length does not match its number of steps");
  }
  request.header = {read_at<std::uint16_t>(bytes, kLengthBytes + 2),
                    read_at<std::uint64_t>(bytes, kRequestIdOffset),
                    read_at<std::uint64_t>(bytes, kSentOffset)};
  request.steps.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    request.steps[i] = read_at<Step>(bytes, kStepsOffset + i * kStepBytes);
  }
  check_steps(request.steps);
  return kLengthBytes + body;
}

int class_of_prefix(std::span<const std::byte, kClassPrefixBytes> bytes) {
  try {
    check_request_prefix(bytes);
  } catch (const ProtocolError&) {
    return -1;
  }
  return read_at<std::uint16_t>(bytes, kLengthBytes + 2);
}

void encode_response(const Response& response, std::span<std::byte, kResponseBytes> out) {
  write_at(out, 0, static_cast<std::uint32_t>(kResponseBytes - kLengthBytes));
  write_at(out, kLengthBytes, kProtocolVersion);
  write_at(out, kLengthBytes + 1, response.status);
  write_at(out, kLengthBytes + 2, response.class_id);
  write_at(out, kLengthBytes + 4, response.request_id);
}

std::size_t decode_response(std::span<const std::byte> bytes, Response& response) {
  if (bytes.size() < kLengthBytes) return 0;
  if (read_at<std::uint32_t>(bytes, 0) != kResponseBytes - kLengthBytes) {
    throw ProtocolError("response length out of range");
  }
  if (bytes.size() < kResponseBytes) return 0;
  if (read_at<std::uint8_t>(bytes, kLengthBytes) != kProtocolVersion) {
    throw ProtocolError("unknown protocol version");
  }
  const auto status = read_at<Status>(bytes, kLengthBytes + 1);
  const auto class_id = read_at<std::uint16_t>(bytes, kLengthBytes + 2);
  if (status > Status::kRefused || class_id >= kClasses) {
    throw ProtocolError("response status or class out of range");
  }
  response = {status, class_id, read_at<std::uint64_t>(bytes, kLengthBytes + 4)};
  return kResponseBytes;
}

}  // namespace poolpilot
