// The wire protocol: length-checked binary frames that carry step programs.
//
// Request:  u32 body length | u8 version | u8 type | u16 class | u64 request id | u64 sent_ns |
//           u16 number of steps | u16 zero | steps
// Step:     u8 op | u8 kind or latch | u16 aux | u32 value
// Response: u32 body length | u8 version | u8 status | u16 class | u64 request id
// All numbers are little endian. `sent_ns` is the client's CLOCK_MONOTONIC; both ends share a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "queues/step.hpp"

namespace poolpilot {

inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::uint8_t kRequestType = 1;
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kRequestHeaderBytes = 24;              // without the length
inline constexpr std::size_t kClassPrefixBytes = kLengthBytes + 4;  // up to the class
inline constexpr std::size_t kStepBytes = 8;
inline constexpr std::size_t kMaxBodyBytes = kRequestHeaderBytes + kMaxSteps * kStepBytes;
inline constexpr std::size_t kResponseBytes = kLengthBytes + 12;

enum class Status : std::uint8_t {
  kOk = 0,
  kLatchTimeout,
  kStopping,  // the server stopped before the program was over; the rest of it was not run
  kRefused,   // nothing of the program was run, too many wait for admission: try again
};

static_assert(sizeof(Step) == kStepBytes);

struct RequestHeader {
  std::uint16_t class_id = 0;
  std::uint64_t request_id = 0;
  std::uint64_t sent_ns = 0;
};

struct Request {
  RequestHeader header;
  std::vector<Step> steps;
};

struct Response {
  Status status = Status::kOk;
  std::uint16_t class_id = 0;
  std::uint64_t request_id = 0;
};

// A frame that breaks the rules; its connection is closed and counted.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bytes of one request frame, ready to send.
std::vector<std::byte> encode_request(const Request& request);

// Writes id and send time into a frame made by encode_request, so that a load generator can reuse
// it.
void stamp_request(std::span<std::byte> frame, std::uint64_t request_id, std::uint64_t sent_ns);

// Reads one request from the front of `bytes`. Returns the bytes used, 0 when the frame is not
// complete yet. Throws ProtocolError when they cannot become a valid frame: a bad length as soon as
// it is there, the rest with the first eight bytes or with the whole frame.
std::size_t decode_request(std::span<const std::byte> bytes, Request& request);

// The class in the first bytes of a request frame; -1 where they cannot begin one.
int class_of_prefix(std::span<const std::byte, kClassPrefixBytes> bytes);

void encode_response(const Response& response, std::span<std::byte, kResponseBytes> out);

// As decode_request, for the client's side.
std::size_t decode_response(std::span<const std::byte> bytes, Response& response);

}  // namespace poolpilot
