// Replays what the fuzzer found, and a fixed number of mutations of it, with any compiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fuzz/frame_fuzzer.hpp"
#include "live/protocol.hpp"

namespace poolpilot {
namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t kLongestInput = 2 * kMaxBodyBytes;

struct Named {
  std::string name;
  Input input;
};

// In the order of their names: the mutations must not depend on the file system.
std::vector<Named> corpus() {
  std::vector<Named> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(POOLPILOT_FRAME_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.push_back({entry.path().filename().string(), Input(std::istreambuf_iterator<char>(file),
                                                              std::istreambuf_iterator<char>())});
  }
  std::ranges::sort(inputs, {}, &Named::name);
  return inputs;
}

// What lies at and beside the limits of a byte, and of a step's value.
constexpr std::array<std::uint8_t, 13> kBytes = {0, 1, 2, 3, 4, 6, 7, 8, 63, 64, 127, 128, 255};
constexpr std::array<std::uint32_t, 8> kValues = {
    0, 1, kMaxWaiterCostNs, kMaxWaiterCostNs + 1, kMaxStepUs, kMaxStepUs + 1, kMaxProgramUs, ~0U};

std::size_t below(Random& random, std::size_t end) { return random() % end; }

template <typename Choices>
auto one_of(const Choices& choices, Random& random) {
  return choices[below(random, choices.size())];
}

// Blind changes of bytes seldom leave a step that is nearly right.
void set_step_of_a_frame(Input& input, Random& random) {
  constexpr std::size_t kFirstStep = kLengthBytes + kRequestHeaderBytes;
  if (input.size() < kFirstStep + kStepBytes) return;
  const std::size_t number = below(random, (input.size() - kFirstStep) / kStepBytes);
  const Step step = {static_cast<Op>(below(random, 8)), one_of(kBytes, random),
                     one_of(kBytes, random), one_of(kValues, random)};
  std::memcpy(input.data() + kFirstStep + number * kStepBytes, &step, sizeof(step));
}

void set_length_of_a_frame(Input& input, Random& random) {
  if (input.size() < kLengthBytes) return;
  const std::size_t steps = below(random, kMaxSteps + 2);
  const auto body = static_cast<std::uint32_t>(
      random() % 4 == 0 ? input.size() - kLengthBytes : kRequestHeaderBytes + steps * kStepBytes);
  std::memcpy(input.data(), &body, sizeof(body));
}

void mutate(Input& input, const Input& other, Random& random) {
  const std::size_t at = below(random, input.size() + 1);
  const auto offset = static_cast<std::ptrdiff_t>(at);
  switch (below(random, 7)) {
    case 0:
      if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1U << below(random, 8));
      return;
    case 1:
      if (at < input.size()) input[at] = one_of(kBytes, random);
      return;
    case 2:
      input.resize(at);
      return;
    case 3:
      input.insert(input.begin() + offset, other.begin(), other.end());
      return;
    case 4:
      input.insert(input.begin() + offset, 1 + below(random, kStepBytes), std::uint8_t{1});
      return;
    case 5:
      set_step_of_a_frame(input, random);
      return;
    default:
      set_length_of_a_frame(input, random);
  }
}

std::string hex(const Input& input) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : input) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

void expect_promises_kept(const Input& input, const std::string& name) {
  EXPECT_NO_THROW(LLVMFuzzerTestOneInput(input.data(), input.size())) << name << ": " << hex(input);
}

template <typename Message, typename Decode>
int decode_stream(const Input& input, Decode decode, std::set<std::string>& refusals) {
  auto bytes = std::as_bytes(std::span(input));
  Message message;
  int frames = 0;
  try {
    while (const std::size_t used = decode(bytes, message)) {
      bytes = bytes.subspan(used);
      ++frames;
    }
  } catch (const ProtocolError& error) {
    refusals.insert(error.what());
  }
  return frames;
}

TEST(FrameCorpus, KeepsEveryPromise) {
  const std::vector<Named> inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  for (const auto& [name, input] : inputs) expect_promises_kept(input, name);
}

TEST(FrameCorpus, MeetsFramesOfBothKindsAndEveryRefusal) {
  std::set<std::string> refusals;
  int requests = 0;
  int responses = 0;
  for (const auto& [name, input] : corpus()) {
    requests += decode_stream<Request>(input, decode_request, refusals);
    responses += decode_stream<Response>(input, decode_response, refusals);
  }
  EXPECT_GT(requests, 0);
  EXPECT_GT(responses, 0);
  EXPECT_EQ(refusals.size(), 15U) << testing::PrintToString(refusals);
}

TEST(FrameCorpus, MutatedKeepsEveryPromise) {
  const std::vector<Named> inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  Random random(1);
  for (int round = 0; round < 100'000 && !testing::Test::HasFailure(); ++round) {
    Input input = inputs[below(random, inputs.size())].input;
    const std::size_t mutations = 1 + below(random, 4);
    for (std::size_t i = 0; i < mutations; ++i) {
      mutate(input, inputs[below(random, inputs.size())].input, random);
    }
    input.resize(std::min(input.size(), kLongestInput));
    expect_promises_kept(input, "round " + std::to_string(round));
  }
}

}  // namespace
}  // namespace poolpilot
