// Where the climb goes once a wave has been judged, and the transitions between the modes.
#include <algorithm>
#include <cmath>

#include "climb/spectral.hpp"

namespace poolpilot {
namespace {

constexpr double kOnce = 1.0;     // weight of one wave that was just beyond doubt
constexpr double kCertain = 2.0;  // weight of one that was twice beyond doubt
constexpr double kWeak = 1.25;    // weight under which an end is looked at again
constexpr int kDoubts = 3;        // such looks in one climb

std::string percent(double share) {
  return std::to_string(static_cast<int>(std::lround(100.0 * share))) + " %";
}

}  // namespace

double SpectralClimber::weight_of(double lead) const {
  const double sure = settings_.confidence * error_;
  if (std::abs(lead) >= 2.0 * sure) return kCertain;
  return std::min(kOnce, lead * lead / (sure * sure));
}

bool SpectralClimber::wave_can_grow() const {
  const double share = largest_wave_share(settings_);
  return wave_.high < wave_from(wave_.low, share, bracket_.low(), bracket_.high()).high;
}

void SpectralClimber::rise(double lead) {
  mode_ = Mode::kUsual;
  if (wave_.high >= bracket_.high()) bracket_.touch_high();
  bracket_.raise(wave_.low + 1, weight_of(lead));
  if (bracket_.closed()) return narrow("throughput rises inside the bracket");
  jump_up(lead);
}

void SpectralClimber::fall(double lead) {
  mode_ = Mode::kUsual;
  if (wave_.low <= bracket_.low()) bracket_.touch_low();
  bracket_.lower(wave_.high - 1, weight_of(lead));
  if (bracket_.closed()) return narrow("throughput falls inside the bracket");
  jump_down(lead);
}

void SpectralClimber::flatten() {
  if (mode_ == Mode::kPlateau) {
    bracket_.lower(wave_.low, kOnce);
    return walk_left();
  }
  if (bracket_.closed()) return conclude(wave_.low, "no trend left inside the bracket");
  if (wave_can_grow()) {
    const int before = wave_.high;
    while (wave_at(wave_.low).high <= before) ++growths_;
    return begin(wave_at(wave_.low), "no trend yet, wave grows");
  }
  mode_ = Mode::kPlateau;
  plateau_right_ = wave_.high;
  bracket_.lower(wave_.low, kOnce);
  walk_left();
}

void SpectralClimber::narrow(const std::string& reason) {
  const int low = bracket_.low();
  const int high = bracket_.high();
  const int accuracy =
      static_cast<int>(settings_.hcm_eps / settings_.hcm_reference_size * bracket_.high());
  if (bracket_.width() > accuracy) return begin(wave_inside(bracket_), reason);
  const int known = curve_.best(low, high, settings_.price_of_thread).value_or((low + high) / 2);
  conclude(known, "bracket is narrow enough");
}

// An end of the bracket that hardly more than one wave spoke for is looked at again first.
void SpectralClimber::conclude(int size, const std::string& reason) {
  const bool low_weak = bracket_.low_weight() < kWeak && bracket_.low() > min_size_;
  const bool high_weak = bracket_.high_weight() < kWeak && bracket_.high() < max_size_;
  if (doubts_left_ == 0 || !(low_weak || high_weak)) return optimize(size, reason);
  --doubts_left_;
  if (low_weak && (!high_weak || bracket_.low_weight() <= bracket_.high_weight())) {
    return doubt_low();
  }
  doubt_high();
}

void SpectralClimber::doubt_high() {
  const int high = bracket_.high();
  bracket_.reopen_high(max_size_);
  begin(wave_at(high), "upper end was hardly seen: look again");
}

void SpectralClimber::doubt_low() {
  const int low = bracket_.low();
  bracket_.reopen_low(min_size_);
  const double share = wave_share(settings_, growths_, noise_.deviation());
  const int left = std::min(static_cast<int>(low / (1.0 + share)), low - 1);
  begin({.low = std::max(left, min_size_), .high = low}, "lower end was hardly seen: look again");
}

void SpectralClimber::jump_up(double lead) {
  const int target = step_.up(settings_, wave_, lead);
  if (connections_ < settings_.hcm_false_jump_ratio * target) {
    const double sensible = connections_ / settings_.hcm_false_jump_ratio;
    bracket_.lower(std::max(wave_.high, static_cast<int>(sensible)), kCertain);
    return narrow("false jump refused: too few connections");
  }
  growths_ = 0;
  begin(wave_at(target), "throughput rises: jump up");
}

void SpectralClimber::jump_down(double lead) {
  const int target = step_.down(settings_, wave_, lead);
  growths_ = 0;
  begin(wave_at(target), "throughput falls: jump down");
}

void SpectralClimber::walk_left() {
  const int base = bracket_.high();
  if (bracket_.width() == 0) return conclude(base, "the plateau has no smaller size left");
  const int left = std::max(bracket_.low(), left_of(settings_, base));
  const int widest = static_cast<int>(std::lround(left * (1.0 + largest_wave_share(settings_))));
  const int right = std::max(base, std::min(plateau_right_, widest));
  begin({.low = left, .high = right}, "plateau: walk left to the knee");
}

int SpectralClimber::leave(Departure departure) {
  const std::string change = " left its reference by " + percent(watch_.deviation());
  if (departure == Departure::kThroughput) return restart(requested_, "throughput" + change);
  if (departure == Departure::kLatency) return restart(requested_, "latency" + change);
  const bool fewer = watch_.deviation() < 0.0;
  const int held = requested_;
  restart(held, "connections" + change);
  if (fewer && mode_ == Mode::kUsual) {
    mode_ = Mode::kPlateau;
    plateau_right_ = held;
    bracket_.lower(held, kOnce);
    walk_left();
  }
  return requested_;
}

void SpectralClimber::optimize(int size, const std::string& reason) {
  if (size > min_size_ && size - connections_ > settings_.hcm_false_optimized_excess) {
    restart(static_cast<int>(connections_), "false optimum: more threads than connections");
    return;
  }
  mode_ = Mode::kOptimized;
  requested_ = size;
  settle_left_ = settings_.settle_samples;
  watch_ = HoldWatch();
  note(reason);
}

int SpectralClimber::restart(int size, const std::string& reason, std::optional<int> limit) {
  mode_ = Mode::kUsual;
  bracket_ = Bracket(min_size_, max_size_);
  if (limit) bracket_.lower(*limit, kCertain);
  curve_.clear();
  noise_ = Noise();
  growths_ = 0;
  wrong_predictions_ = 0;
  step_ = StepLength();
  ratio_ = error_ = 0.0;
  last_period_.clear();
  declines_ = 0;
  doubts_left_ = kDoubts;
  if (bracket_.width() == 0) {
    optimize(bracket_.low(), reason);
  } else {
    wave_ = wave_at(size);
    begin(wave_, reason);
  }
  return requested_;
}

Wave SpectralClimber::wave_at(int size) const {
  const double share = wave_share(settings_, growths_, noise_.deviation());
  return wave_from(size, share, bracket_.low(), bracket_.high());
}

void SpectralClimber::begin(Wave wave, const std::string& reason) {
  last_low_ = wave_.low;
  wave_ = wave;
  requested_ = wave.low;
  sizes_.clear();
  throughputs_.clear();
  settle_left_ = settings_.settle_samples;
  note(reason + ", wave between " + std::to_string(wave.low) + " and " + std::to_string(wave.high));
}

void SpectralClimber::note(const std::string& reason) {
  log_.push_back({.sample = samples_,
                  .mode = mode_,
                  .size = requested_,
                  .ratio = ratio_,
                  .noise = error_,
                  .reason = reason});
  if (static_cast<int>(log_.size()) > settings_.log_limit) log_.pop_front();
}

}  // namespace poolpilot
