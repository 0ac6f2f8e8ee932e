// Where the climb goes once a wave has been judged, and the transitions between the modes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "climb/spectral.hpp"

namespace poolpilot {
namespace {

// Belief that the bracket must hold: the optimum is beyond either end with a chance of a tenth.
constexpr double kCredible = 0.8;
// Bracket over the size that counts as found: so near an optimum a curve is flat. In threads it is
// Trub's.
constexpr double kAccuracy = 0.02;
constexpr double kAbsoluteAccuracy = 5.0;
// Part of the bracket, in logarithms, that a wave inside it spans at first: its two sizes then part
// the bracket in three.
constexpr double kInnerWave = 1.0 / 3.0;
// Connections over size under which a jump is refused: most groups would never have one.
constexpr double kFalseJumpRatio = 0.2;
// Largest factor of one change after a held size has been left: it was good a moment ago.
constexpr double kReturnRatio = 2.0;
// A warm start is near the optimum: half the wave of a cold one, within a factor of two.
constexpr double kWarmWaveShare = 0.5;
constexpr double kWarmBracket = 2.0;

}  // namespace

int SpectralClimber::bracket_low() const { return belief_.quantile((1.0 - kCredible) / 2.0); }

int SpectralClimber::bracket_high() const { return belief_.quantile((1.0 + kCredible) / 2.0); }

bool SpectralClimber::bracket_narrow() const {
  const int high = bracket_high();
  const double width = settings_.trubs_method ? kAbsoluteAccuracy : kAccuracy * high;
  return high - bracket_low() <= static_cast<int>(width);
}

// A wave around the middle of the bracket.
void SpectralClimber::narrow(Reason reason) {
  const int middle = belief_.median();
  look_around(middle, wave_threads(settings_, middle, growths_, echo_.noise_so_far().deviation()),
              reason);
}

// Part of the bracket that a wave inside it spans.
double SpectralClimber::inner_share() const {
  return std::min(kInnerWave * std::pow(kWaveGrowth, inner_growths_), 1.0);
}

void SpectralClimber::look_around(int size, int threads, Reason reason) {
  const int low = bracket_low();
  const int high = bracket_high();
  if (low == high) return arrive(size, Reason::kFound);
  begin(wave_around(size, low, high, threads, inner_share()), reason);
  inside_ = true;
}

void SpectralClimber::jump_up() {
  const int target = step_.up(settings_, wave_, lead());
  if (connections_ < kFalseJumpRatio * target) {
    const double sensible = connections_ / kFalseJumpRatio;
    belief_.exclude_above(std::max(wave_.high, static_cast<int>(sensible)));
    return narrow(Reason::kFalseJump);
  }
  if (std::max<double>(target, wave_.low * kMaxStepRatio) >= belief_.median()) {
    return narrow(Reason::kInside);
  }
  begin(wave_at(target), Reason::kRising);
}

void SpectralClimber::jump_down() {
  const int target = step_.down(settings_, wave_, lead());
  if (std::min<double>(target, wave_.low / kMaxStepRatio) <= belief_.median()) {
    return narrow(Reason::kInside);
  }
  begin(wave_at(target), Reason::kFalling);
}

void SpectralClimber::walk_left() {
  const int target = left_of(wave_.low);
  if (target <= belief_.median()) return narrow(Reason::kInside);
  begin(wave_from(target, largest_wave(settings_, target), 1, belief_.limits()), Reason::kFlat);
}

void SpectralClimber::grow() {
  const int before = wave_.high;
  conclude_wave(rising_probability());
  do {
    ++growths_;
  } while (wave_at(wave_.low).high <= before);
  begin(wave_at(wave_.low), Reason::kNoTrendYet);
}

// A size is held at once where nothing better was known before, else after a comparison.
void SpectralClimber::arrive(int size, Reason reason) {
  const int other = careful_step(size, champion_.value_or(size));
  if (other == size) return settle(size, reason);
  begin({.low = std::min(size, other), .high = std::max(size, other)}, Reason::kDuel);
  duel_ = true;
}

// A size is held only once fewer threads have been shown to be worse: where throughput is the same
// from a knee on, the noise alone would say which size beyond it is best.
void SpectralClimber::settle(int size, Reason reason) {
  const int fewer = std::max(limits().min, static_cast<int>(size / kScanRatio));
  if (settings_.scan_rounds == 0 || size == fewer || pays_above_ >= fewer)
    return hold_at(size, reason);
  echo_.conclude();
  scan_.begin_down(settings_, size, limits(), echo_.noise_so_far());
  ask_for(size);
  reason_ = Reason::kDescending;
}

void SpectralClimber::hold_at(int size, Reason reason) {
  if (size > limits().min && size - connections_ > kFalseOptimumExcess) {
    return restart(limits().clamp(static_cast<int>(connections_)), Reason::kFalseOptimum);
  }
  mode_ = Mode::kOptimized;
  ask_for(size);
  settle_left_ = kSettleSamples;
  watch_.clear(echo_.noise_so_far().deviation());
  reason_ = reason;
}

void SpectralClimber::leave(Departure departure) {
  deviation_ = watch_.deviation();
  const int held = size();
  std::swap(watch_, left_);
  // Who has just come back and leaves again has met another workload, as good elsewhere.
  if (came_back_at_ && samples_ - *came_back_at_ <= settings_.full_window())
    left_.forget_departure();
  if (departure == Departure::kThroughput) return climb_from(held, Reason::kThroughputLeft, true);
  if (departure == Departure::kLatency) return climb_from(held, Reason::kLatencyLeft, true);
  restart(held, Reason::kConnectionsLeft);
  if (deviation_ < 0.0 && mode_ == Mode::kUsual && held > limits().min) {
    mode_ = Mode::kPlateau;
    const int left = left_of(held);
    begin({.low = left, .high = held}, Reason::kConnectionsLeft);
  }
}

void SpectralClimber::come_back() {
  came_back_at_ = samples_;
  careful_ = duel_ = false;
  hold_at(champion_.value(), Reason::kCameBack);
  if (mode_ != Mode::kOptimized) return;
  champion_.reset();
  std::swap(watch_, left_);
  watch_.forget_departure();
}

// A climb that returns to `size` unless another one proves better.
void SpectralClimber::climb_from(int size, Reason reason, bool careful) {
  const int in_force = this->size();
  restart(size, reason);
  if (mode_ == Mode::kOptimized) return;
  ask_for(in_force);
  champion_ = size;
  careful_ = careful;
  climb_around(size, kMaxStepRatio, reason);
}

void SpectralClimber::restart(int size, Reason reason, std::optional<int> limit) {
  mode_ = Mode::kUsual;
  belief_.forget();
  watch_.clear(0.0);
  careful_ = scanned_ = false;
  scan_.cancel();
  champion_.reset();
  duel_ = false;
  pays_above_ = 0;
  if (limit) belief_.exclude_above(*limit);
  forget();
  if (belief_.limits().max == limits().min) return hold_at(limits().min, reason);
  begin(wave_at(size), reason);
  last_low_ = wave_.low;
}

void SpectralClimber::forget() {
  curve_.clear();
  echo_.forget_noise();
  step_ = StepLength();
  answer_ = Answer();
  growths_ = inner_growths_ = 0;
  wrong_predictions_ = 0;
  last_period_.clear();
  declines_ = 0;
}

void SpectralClimber::begin_scan(int size) {
  restart(size, Reason::kStart);
  if (mode_ == Mode::kOptimized) return;
  scan_.begin(settings_, size, limits());
  if (!scan_.over()) ask_for(scan_.size());
}

// A climb that expects the optimum within a factor `ratio` of `size`.
void SpectralClimber::climb_around(int size, double ratio, Reason reason) {
  belief_.expect(size, ratio);
  look_around(size, wave_threads(settings_, size, 0, echo_.noise_so_far().deviation()), reason);
}

void SpectralClimber::begin_warm(int size) {
  restart(size, Reason::kWarm);
  if (mode_ == Mode::kOptimized) return;
  given_ = true;
  belief_.expect(size, kWarmBracket);
  if (!settings_.verify_warm_start) {
    mode_ = Mode::kOptimized;
    ask_for(size);
    settle_left_ = kSettleSamples;
    return;
  }
  const double cold = wave_threads(settings_, size, 0, 0.0);
  const int threads = std::max(1, static_cast<int>(std::lround(kWarmWaveShare * cold)));
  look_around(size, threads, Reason::kWarm);
}

Wave SpectralClimber::wave_at(int size) const {
  const double noise = echo_.noise_so_far().deviation();
  return wave_from(size, wave_threads(settings_, size, growths_, noise),
                   wave_threads(settings_, size, 0, noise), belief_.limits());
}

void SpectralClimber::begin(Wave wave, Reason reason) {
  last_low_ = wave_.low;
  wave_ = wave;
  if (careful_) {
    wave_.low = careful_step(size(), wave.low);
    wave_.high = careful_step(wave_.low, std::max(wave.high, wave_.low + 1));
    if (wave_.high == wave_.low) --wave_.low;
  }
  inside_ = false;
  rewind(reason);
}

// As far from one size towards another as one change may go.
int SpectralClimber::careful_step(int from, int to) const {
  if (!careful_) return to;
  const int least = std::min(from - 1, static_cast<int>(std::ceil(from / kReturnRatio)));
  const int most = std::max(from + 1, static_cast<int>(std::min(from * kReturnRatio, 2e9)));
  return limits().clamp(std::clamp(to, least, most));
}

// The same wave from its first sample.
void SpectralClimber::rewind(Reason reason) {
  ask_for(wave_.low);
  echo_.clear();
  settle_left_ = kSettleSamples;
  reason_ = reason;
}

}  // namespace poolpilot
