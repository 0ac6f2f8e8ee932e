// The wire protocol under fair and foul input, and the histogram's buckets.
#include "live/protocol.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "pool/histogram.hpp"

namespace poolpilot {
namespace {

using Bytes = std::vector<std::byte>;

// Offsets in a request frame.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kTypeAt = 5;
constexpr std::size_t kClassAt = 6;
constexpr std::size_t kStepCountAt = 24;
constexpr std::size_t kFirstStepAt = 28;

Request every_step() {
  Request request;
  request.header = {7, 0x0123456789ABCDEF, 987654321};
  request.steps = {
      {Op::kBegin, 0, 0, 0},
      {Op::kCpu, 0, 0, 1500},
      {Op::kAcquire, 63, static_cast<std::uint16_t>((4095U << kSpinShift) | kReported), 2500},
      {Op::kWait, static_cast<std::uint8_t>(WaitKind::kNet), kReported, kMaxStepUs},
      {Op::kRelease, 63, 0, 0},
      {Op::kCommit, 0, 0, 0}};
  return request;
}

template <typename T>
Bytes with(Bytes frame, std::size_t offset, T value) {
  std::memcpy(frame.data() + offset, &value, sizeof(value));
  return frame;
}

void expect_equal(const Request& got, const Request& wanted) {
  EXPECT_EQ(got.header.class_id, wanted.header.class_id);
  EXPECT_EQ(got.header.request_id, wanted.header.request_id);
  EXPECT_EQ(got.header.sent_ns, wanted.header.sent_ns);
  ASSERT_EQ(got.steps.size(), wanted.steps.size());
  for (std::size_t i = 0; i < got.steps.size(); ++i) {
    EXPECT_EQ(got.steps[i].op, wanted.steps[i].op);
    EXPECT_EQ(got.steps[i].kind_or_latch, wanted.steps[i].kind_or_latch);
    EXPECT_EQ(got.steps[i].aux, wanted.steps[i].aux);
    EXPECT_EQ(got.steps[i].value, wanted.steps[i].value);
  }
}

TEST(RequestFrame, RoundTripKeepsEveryField) {
  const Bytes frame = encode_request(every_step());
  EXPECT_EQ(frame.size(), kLengthBytes + kRequestHeaderBytes + 6 * kStepBytes);
  Request request;
  EXPECT_EQ(decode_request(frame, request), frame.size());
  expect_equal(request, every_step());
}

TEST(RequestFrame, WithoutStepsAndWithTheMostStepsPasses) {
  for (const std::size_t count : {std::size_t{0}, kMaxSteps}) {
    Request request;
    request.steps.assign(count, {Op::kCpu, 0, 0, 1});
    const Bytes frame = encode_request(request);
    Request decoded = every_step();
    EXPECT_EQ(decode_request(frame, decoded), frame.size());
    expect_equal(decoded, request);
  }
}

TEST(RequestFrame, TruncatedAtEveryByteWaitsForMore) {
  const Bytes frame = encode_request(every_step());
  for (std::size_t length = 0; length < frame.size(); ++length) {
    Request request;
    EXPECT_EQ(decode_request(std::span(frame).first(length), request), 0U) << length;
  }
}

TEST(RequestFrame, OnlyTheFirstOfTwoFramesIsRead) {
  Bytes both = encode_request(every_step());
  const std::size_t first = both.size();
  both.insert(both.end(), 3, std::byte{0xFF});
  Request request;
  EXPECT_EQ(decode_request(both, request), first);
}

TEST(RequestFrame, StampChangesIdAndSendTimeAlone) {
  Bytes frame = encode_request(every_step());
  stamp_request(frame, 42, 4242);
  Request wanted = every_step();
  wanted.header.request_id = 42;
  wanted.header.sent_ns = 4242;
  EXPECT_EQ(frame, encode_request(wanted));
}

TEST(RequestFrame, EncodingRefusesWhatDecodingWould) {
  Request many;
  many.steps.assign(kMaxSteps + 1, {Op::kCpu, 0, 0, 1});
  EXPECT_THROW(encode_request(many), ProtocolError);
  Request unknown_class;
  unknown_class.header.class_id = kClasses;
  EXPECT_THROW(encode_request(unknown_class), ProtocolError);
  Request bad_step;
  bad_step.steps = {{Op::kAcquire, kLatches, 0, 0}};
  EXPECT_THROW(encode_request(bad_step), ProtocolError);
}

TEST(RequestFrame, HostileHeadersAreRefused) {
  const Bytes good = encode_request(every_step());
  Request request;
  for (const std::uint32_t length :
       {0U, 1U, 23U, static_cast<std::uint32_t>(kMaxBodyBytes) + 1, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    EXPECT_THROW(decode_request(with(good, 0, length), request), ProtocolError) << length;
  }
  for (const int version : {0, 2, 255}) {
    const auto bad = with(good, kVersionAt, static_cast<std::uint8_t>(version));
    EXPECT_THROW(decode_request(bad, request), ProtocolError) << version;
  }
  for (const int type : {0, 2, 255}) {
    const auto bad = with(good, kTypeAt, static_cast<std::uint8_t>(type));
    EXPECT_THROW(decode_request(bad, request), ProtocolError) << type;
  }
  for (const int class_id : {static_cast<int>(kClasses), 256, 65535}) {
    const auto bad = with(good, kClassAt, static_cast<std::uint16_t>(class_id));
    EXPECT_THROW(decode_request(bad, request), ProtocolError) << class_id;
  }
}

TEST(RequestFrame, HostileHeadersAreRefusedBeforeTheBodyArrives) {
  const Bytes good = encode_request(every_step());
  Request request;
  const Bytes oversized = with(good, 0, std::uint32_t{0xFFFFFFFF});
  EXPECT_THROW(decode_request(std::span(oversized).first(4), request), ProtocolError);
  const Bytes foreign = with(good, kVersionAt, std::uint8_t{'G'});
  EXPECT_THROW(decode_request(std::span(foreign).first(8), request), ProtocolError);
}

TEST(RequestFrame, StepCountMustMatchTheLength) {
  const Bytes good = encode_request(every_step());
  Request request;
  for (const int count : {0, 5, 7, 256, 257, 65535}) {
    const auto bad = with(good, kStepCountAt, static_cast<std::uint16_t>(count));
    EXPECT_THROW(decode_request(bad, request), ProtocolError) << count;
  }
  Bytes half_a_step = good;
  half_a_step.resize(good.size() - kStepBytes / 2);
  const auto body = static_cast<std::uint32_t>(half_a_step.size() - kLengthBytes);
  EXPECT_THROW(decode_request(with(half_a_step, 0, body), request), ProtocolError);
}

TEST(RequestFrame, HostileStepsAreRefused) {
  const std::vector<Step> hostile = {
      {static_cast<Op>(0), 0, 0, 0},
      {static_cast<Op>(8), 0, 0, 0},
      {Op::kDeclare, 3, 0, 0},
      {Op::kDeclare, 0, 0, kClasses + 1},
      {static_cast<Op>(255), 0, 0, 0},
      {Op::kCpu, 0, 0, kMaxStepUs + 1},
      {Op::kWait, 0, 0, 0xFFFFFFFF},
      {Op::kWait, kWaitKinds, 0, 1},
      {Op::kAcquire, kLatches, 0, 0},
      {Op::kRelease, 255, 0, 0},
      {Op::kCpu, 0, kReported << 1, 0},
      {Op::kRelease, 0, 1 << kSpinShift, 0},
      {Op::kAcquire, 0, 0, kMaxWaiterCostNs + 1},
  };
  const Bytes good = encode_request(every_step());
  for (std::size_t i = 0; i < hostile.size(); ++i) {
    Request request;
    const Bytes bad = with(good, kFirstStepAt + 2 * kStepBytes, hostile[i]);
    EXPECT_THROW(decode_request(bad, request), ProtocolError) << i;
  }
}

TEST(RequestFrame, ProgramsLongerThanAMinuteAreRefused) {
  Request request;
  request.steps.assign(6, {Op::kWait, 0, 0, kMaxStepUs});
  EXPECT_NO_THROW(encode_request(request));
  request.steps.push_back({Op::kCpu, 0, 0, 1});
  EXPECT_THROW(encode_request(request), ProtocolError);
}

TEST(RequestFrame, RandomBytesNeverPassForMoreThanTheyAre) {
  std::mt19937_64 random(7);
  const Bytes good = encode_request(every_step());
  int passed = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = good;
    const std::size_t flips = 1 + random() % 4;
    for (std::size_t i = 0; i < flips; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    Request request;
    try {
      const std::size_t used = decode_request(bytes, request);
      ASSERT_LE(used, bytes.size());
      if (used == 0) continue;
      ++passed;
      EXPECT_NO_THROW(encode_request(request));
    } catch (const ProtocolError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
  EXPECT_GT(passed, 0);  // flips in id and send time are no defect
}

TEST(ResponseFrame, RoundTripTruncationAndBadInput) {
  Bytes frame(kResponseBytes);
  const std::span<std::byte, kResponseBytes> out(frame.data(), kResponseBytes);
  encode_response({Status::kLatchTimeout, 5, 0xFEDCBA9876543210}, out);
  Response response;
  for (std::size_t length = 0; length < frame.size(); ++length) {
    EXPECT_EQ(decode_response(std::span(frame).first(length), response), 0U) << length;
  }
  EXPECT_EQ(decode_response(frame, response), kResponseBytes);
  EXPECT_EQ(response.status, Status::kLatchTimeout);
  EXPECT_EQ(response.class_id, 5);
  EXPECT_EQ(response.request_id, 0xFEDCBA9876543210);
  EXPECT_THROW(decode_response(with(frame, 0, std::uint32_t{13}), response), ProtocolError);
  EXPECT_THROW(decode_response(with(frame, 0, std::uint32_t{0}), response), ProtocolError);
  EXPECT_THROW(decode_response(with(frame, 4, std::uint8_t{9}), response), ProtocolError);
}

// Lower bound of a bucket as featurizer/histogram.py computes it.
std::uint64_t lower_bound_of(std::size_t index) {
  const std::size_t octave = index >> kSubBucketBits;
  const std::size_t sub = index & ((std::size_t{1} << kSubBucketBits) - 1);
  if (octave == 0) return sub;
  return ((std::uint64_t{1} << kSubBucketBits) + sub) << (octave - 1);
}

TEST(HistogramBuckets, EveryBucketBeginsAtItsLowerBound) {
  for (std::size_t index = 0; index < kBuckets; ++index) {
    EXPECT_EQ(bucket_of(lower_bound_of(index)), index);
    if (index > 0) {
      EXPECT_EQ(bucket_of(lower_bound_of(index) - 1), index - 1);
    }
  }
}

TEST(HistogramBuckets, ValuesBeyondTheLastShareIt) {
  const std::uint64_t end = lower_bound_of(kBuckets);
  EXPECT_EQ(bucket_of(end - 1), kBuckets - 1);
  EXPECT_EQ(bucket_of(end), kBuckets - 1);
  EXPECT_EQ(bucket_of(UINT64_MAX), kBuckets - 1);
}

TEST(HistogramBuckets, CountsAndMomentsOfTwoHistogramsAddUp) {
  Histogram one;
  Histogram two;
  for (const std::uint64_t value : {0U, 3U, 1000U}) one.record(value);
  two.record(1000);
  HistogramCounts sum;
  one.add_to(sum);
  two.add_to(sum);
  EXPECT_EQ(sum.counts[0], 1);
  EXPECT_EQ(sum.counts[3], 1);
  EXPECT_EQ(sum.counts[bucket_of(1000)], 2);
  EXPECT_DOUBLE_EQ(sum.total, 2003.0);
  EXPECT_DOUBLE_EQ(sum.total_squares, 2'000'009.0);
}

}  // namespace
}  // namespace poolpilot
