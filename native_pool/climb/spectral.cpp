#include "climb/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace poolpilot {
namespace {

// Fall below the last period of a wave that is unnatural: no wave is so large. The samples in a row
// that must have fallen so: one may be a hiccup of the machine.
constexpr double kSteepDecline = 0.8;
constexpr int kSteepSamples = 2;

// Periods in a row that known points of the curve have not foretold: one may be a hiccup.
constexpr int kWrongPredictions = 2;

// Largest factor between two known sizes that are interpolated: beyond it the chord of an arched
// curve says nothing.
constexpr double kInterpolationRatio = 2.0;

// Sizes whose throughput is remembered: a climb seldom has as many.
constexpr int kCurvePoints = 128;

}  // namespace

SpectralClimber::SpectralClimber(const SpectralSettings& settings, int initial_size,
                                 SizeLimits limits, bool warm)
    : Climber(initial_size, limits),
      settings_(settings.validated()),
      earlier_(initial_size),
      echo_(settings),
      belief_(limits, kBeliefPoints),
      curve_(kCurvePoints),
      journal_(settings) {
  last_period_.reserve(kWavePeriod);
  if (warm) {
    begin_warm(initial_size);
  } else {
    begin_scan(initial_size);
  }
  record({});
}

void SpectralClimber::adopt(const SpectralSettings& settings) {
  settings_ = settings.validated();
  const bool holding = holds();
  echo_ = Echo(settings);
  belief_ = Belief(limits(), kBeliefPoints);
  curve_ = CurveMemory(kCurvePoints);
  watch_ = left_ = HoldWatch();
  journal_.adopt(settings);
  if (holding) {
    mode_ = Mode::kOptimized;
    return;
  }
  earlier_ = size();
  restart(wave_.low, Reason::kSettingsChanged);
}

int SpectralClimber::next(const Sample& sample) {
  ++samples_;
  deviation_ = 0.0;
  evaluate_weights(sample);
  record(sample);
  return size();
}

void SpectralClimber::dropped(const Sample& sample, Flaw flaw) {
  ++samples_;
  reason_ = Reason::kFlawed;
  // A hole in the wave would shift its phase: it begins again.
  if (!holds() && echo_.samples() > 0) rewind(Reason::kFlawed);
  record(sample, flaw);
}

void SpectralClimber::evaluate_weights(const Sample& sample) {
  if (!settings_.hcm_hillclimbing_enabled) {
    reason_ = Reason::kSwitchedOff;
    return ask_for(sample.size);
  }
  // The sample may be older than the wave, which need not begin at the size that was in force.
  if (std::exchange(earlier_, std::nullopt) == sample.size && sample.size != size()) {
    if (reason_ != Reason::kSettingsChanged) reason_ = Reason::kSettling;
    return;
  }
  if (sample.size != size()) return forced(sample.size);
  if (sample.connections == 0.0) return idle();
  idle_ = given_ = false;
  connections_ = sample.connections;
  const bool swings = !holds() && scan_.over();
  if (swings && steep_decline(sample)) return retreat(sample.size);
  if (is_too_little(sample, settings_.min_accepted_throughput)) return pause();
  paused_ = false;
  if (holds()) return hold(sample);
  if (!scan_.over()) return scan(sample);
  climb(sample);
}

void SpectralClimber::forced(int size) {
  if (!settings_.trubs_method) return restart(size, Reason::kForced);
  mode_ = Mode::kUsual;
  begin(wave_at(size), Reason::kForced);
}

// A given optimum that nobody has used yet stays an optimum.
void SpectralClimber::idle() {
  reason_ = Reason::kNoConnections;
  if (idle_ || given_) return;
  idle_ = true;
  if (!scan_.over()) {
    begin_scan(size());
    reason_ = Reason::kNoConnections;
    return;
  }
  restart(holds() ? size() : wave_.low, Reason::kNoConnections);
}

void SpectralClimber::pause() {
  reason_ = Reason::kTooLow;
  if (!paused_ && !holds() && scan_.over()) rewind(Reason::kTooLow);
  paused_ = true;
}

// ---- climbing ----

void SpectralClimber::scan(const Sample& sample) {
  reason_ = scan_.descends() ? Reason::kDescending : Reason::kScanning;
  const double useful = sample.connections + kFalseOptimumExcess;
  scan_.add(settings_, sample.throughput, useful);
  if (!scan_.over()) return ask_for(scan_.size());
  echo_.expect_noise(scan_.noise(kNoiseMemory));
  if (scan_.descends()) return hold_at(scan_.found(), Reason::kFound);
  champion_ = scan_.found();
  pays_above_ = scan_.worse_below(2.0 * settings_.confidence);
  scanned_ = true;
  climb_around(*champion_, kScanRatio, Reason::kInside);
}

void SpectralClimber::climb(const Sample& sample) {
  if (settle_left_ > 0) {
    --settle_left_;
    reason_ = Reason::kSettling;
    return;
  }
  reason_ = Reason::kListening;
  limit_to_connections();
  echo_.add(sample.size, sample.throughput);
  const bool back = came_back(sample);
  if (echo_.period_full()) {
    if (back) return come_back();
    if (curve_changed()) return changed();
    const int samples = echo_.samples();
    listen();
    if (mode_ == Mode::kOptimized || echo_.samples() != samples) return;
  }
  ask_for(wave_.size_at(echo_.samples(), kWavePeriod));
}

// Whether a wave round the held size finds again what was measured before it was left. It need not
// be climbed for then, and where other sizes are as good the climb would go on for long.
bool SpectralClimber::came_back(const Sample& sample) {
  const bool back = careful_ && left_.came_back(sample);
  return back && champion_ && wave_.low <= *champion_ && *champion_ <= wave_.high;
}

// What was known to be good stays worth a comparison.
void SpectralClimber::changed() {
  if (!champion_) return restart(wave_.low, Reason::kCurveChanged);
  const int champion = *champion_;
  climb_from(wave_.low, Reason::kCurveChanged, careful_);
  if (mode_ != Mode::kOptimized) champion_ = champion;
}

// Groups without a connection are of no use: what would be a false optimum is not looked for.
void SpectralClimber::limit_to_connections() {
  const double most = connections_ + kFalseOptimumExcess;
  if (most < belief_.limits().max) {
    belief_.exclude_above(std::max(wave_.high, static_cast<int>(most)));
  }
}

// Back to the last size that was well. What lies from the collapse upwards is left alone for this
// climb, or the same slope would lead there again. Where a good size is known, the rest of what has
// been learnt stays.
void SpectralClimber::retreat(int collapsed_size) {
  const bool just_moved = echo_.samples() < kWavePeriod;
  const int safe = just_moved ? last_low_ : wave_.low;
  std::optional<int> limit;
  if (collapsed_size > safe) limit = collapsed_size - 1;
  if (!champion_) return restart(safe, Reason::kSteepDecline, limit);
  if (limit) {
    belief_.exclude_above(std::max(*limit, *champion_));
  } else {
    belief_.tell(collapsed_size, std::max({safe, wave_.high, collapsed_size + 1}), kTrust);
  }
  last_period_.clear();
  declines_ = 0;
  narrow(Reason::kSteepDecline);
}

// Several samples in a row, as one may be a hiccup of the machine.
bool SpectralClimber::steep_decline(const Sample& sample) {
  constexpr std::size_t period = kWavePeriod;
  if (last_period_.size() == period) {
    double mean = 0.0;
    for (std::size_t i = 0; i < period; ++i) {
      mean += last_period_[i] / static_cast<double>(period);
    }
    if (sample.throughput < (1.0 - kSteepDecline) * mean) {
      return ++declines_ >= kSteepSamples;
    }
    last_period_.pop_front();
  }
  declines_ = 0;
  last_period_.push_back(sample.throughput);
  return false;
}

// Periods in a row that known points of the curve did not foretell.
bool SpectralClimber::curve_changed() {
  const double samples = kWavePeriod / 2.0;
  const double low = echo_.latest_low();
  const double high = echo_.latest_high();
  const Noise noise = echo_.noise_so_far();
  const double error = noise.deviation() / std::sqrt(samples);
  const double limit = std::max(kDeviation, kExitConfidence * error);
  const auto wrong = [&](int size, double actual) {
    const auto expected = curve_.predict(size, kInterpolationRatio);
    return expected && std::abs(actual / *expected - 1.0) > limit;
  };
  if (noise.known() && (wrong(wave_.low, low) || wrong(wave_.high, high))) {
    return ++wrong_predictions_ >= kWrongPredictions;
  }
  wrong_predictions_ = 0;
  curve_.add(wave_.low, low, samples);
  curve_.add(wave_.high, high, samples);
  return false;
}

// ---- holding ----

void SpectralClimber::hold(const Sample& sample) {
  if (settle_left_ > 0) {
    --settle_left_;
    reason_ = Reason::kSettling;
    return;
  }
  reason_ = Reason::kHolding;
  const bool judged = watch_.samples() >= kReferenceSamples;
  const int patience = samples_in(settings_.hcm_hiccup, period_s());
  const Departure departure = watch_.add(sample, settings_, patience);
  if (departure != Departure::kNone) return leave(departure);
  mode_ = watch_.checking() ? Mode::kUsual : Mode::kOptimized;
  if (watch_.checking()) {
    reason_ = Reason::kChecking;
    deviation_ = watch_.deviation();
    return;
  }
  if (!judged && watch_.samples() >= kReferenceSamples && false_optimum()) {
    left_.forget_departure();
    climb_from(curve_.best(limits().min, limits().max, settings_.price_of_thread).value(),
               Reason::kFalseSummit, true);
  }
}

bool SpectralClimber::false_optimum() const {
  const double price = settings_.price_of_thread;
  const auto best = curve_.best(limits().min, limits().max, price);
  if (!best) return false;
  const double held = std::log(watch_.throughput()) - price * std::log(size());
  return held < curve_.value(*best, price) - kDeviation;
}

void SpectralClimber::record(const Sample& sample, Flaw flaw) {
  journal_.add({.sample = samples_,
                .mode = mode_,
                .size = sample.size,
                .next_size = size(),
                .wave_low = wave_.low,
                .wave_high = wave_.high,
                .bracket_low = bracket_low(),
                .bracket_high = bracket_high(),
                .throughput = sample.throughput,
                .size_harmonic = answer_.size_harmonic,
                .throughput_harmonic = answer_.throughput_harmonic,
                .ratio = answer_.ratio,
                .error = answer_.error,
                .progress = lead() * answer_.periods,
                .period_s = period_s(),
                .reason = reason_,
                .flaw = flaw,
                .deviation = deviation_});
}

}  // namespace poolpilot
