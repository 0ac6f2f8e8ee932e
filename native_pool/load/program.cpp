#include "load/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "load/random.hpp"

namespace poolpilot::load {
namespace {

constexpr std::uint32_t kDealStream = kClasses;  // the streams below it belong to the classes

bool varies(const StepSpec& spec) {
  const bool timed = spec.op == Op::kCpu || spec.op == Op::kWait;
  return (timed && spec.variation > 0.0 && spec.us > 0.0) ||
         (spec.op == Op::kAcquire && spec.spread > 1);
}

Step acquire_step(const StepSpec& spec, std::uint8_t latch) {
  const auto spin = static_cast<std::uint16_t>(spec.spin_us << kSpinShift);
  const auto flags = spec.reported ? kReported : std::uint16_t{0};
  return {Op::kAcquire, latch, static_cast<std::uint16_t>(spin | flags),
          static_cast<std::uint32_t>(std::llround(spec.waiter_cost_us * 1e3))};
}

}  // namespace

Program::Program(const ClassSpec& spec, std::uint16_t class_id, std::uint64_t seed, Part part)
    : specs_(spec.steps),
      random_(random_stream(seed, part.stream(class_id))),
      varies_(std::any_of(specs_.begin(), specs_.end(), varies)) {
  request_.header.class_id = class_id;
  request_.steps.resize(specs_.size());
  draw();
}

std::span<std::byte> Program::next() {
  if (varies_) draw();
  return frame_;
}

std::uint32_t Program::duration_us(const StepSpec& spec, std::uint32_t& left_us) {
  const double wanted = varies(spec) ? gamma_of(random_, spec.us, spec.variation) : spec.us;
  const double allowed = std::min(wanted, static_cast<double>(std::min(kMaxStepUs, left_us)));
  const auto us = static_cast<std::uint32_t>(std::llround(allowed));
  left_us -= us;
  return us;
}

void Program::draw() {
  std::array<std::uint8_t, kLatches> drawn{};
  std::iota(drawn.begin(), drawn.end(), std::uint8_t{0});
  std::uint32_t left_us = kMaxProgramUs;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const StepSpec& spec = specs_[i];
    Step& step = request_.steps[i];
    std::uint8_t& latch = drawn[static_cast<std::size_t>(spec.latch)];
    if (spec.op == Op::kCpu) {
      step = {spec.op, 0, 0, duration_us(spec, left_us)};
    } else if (spec.op == Op::kWait) {
      step = {spec.op, static_cast<std::uint8_t>(spec.kind),
              spec.reported ? kReported : std::uint16_t{0}, duration_us(spec, left_us)};
    } else if (spec.op == Op::kAcquire) {
      std::uniform_int_distribution<int> any(spec.latch, spec.latch + spec.spread - 1);
      latch = static_cast<std::uint8_t>(spec.spread > 1 ? any(random_) : spec.latch);
      step = acquire_step(spec, latch);
    } else if (spec.op == Op::kDeclare) {
      step = {spec.op, static_cast<std::uint8_t>(spec.priority), 0, request_.header.class_id};
    } else {
      step = {spec.op, spec.op == Op::kRelease ? latch : std::uint8_t{0}, 0, 0};
    }
  }
  frame_ = encode_request(request_);
}

std::vector<std::uint16_t> deal_connections(const std::vector<ClassSpec>& classes,
                                            std::size_t connections, std::uint64_t seed) {
  double sum = 0.0;
  for (const ClassSpec& spec : classes) sum += spec.share;
  // What every class still lacks of its share, after one connection for each that sends at all.
  std::vector<double> lacking;
  std::vector<std::uint16_t> dealt;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    lacking.push_back(classes[i].share / sum * static_cast<double>(connections));
    if (classes[i].share <= 0.0) continue;
    lacking[i] -= 1.0;
    dealt.push_back(static_cast<std::uint16_t>(i));
  }
  while (dealt.size() < connections) {
    const auto most = std::max_element(lacking.begin(), lacking.end());
    *most -= 1.0;
    dealt.push_back(static_cast<std::uint16_t>(most - lacking.begin()));
  }
  std::mt19937_64 random = random_stream(seed, kDealStream);
  std::shuffle(dealt.begin(), dealt.end(), random);
  return dealt;
}

}  // namespace poolpilot::load
