#include "climb/knobs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "climb/spectrum.hpp"

namespace poolpilot {
namespace {

// Growths of each knob's first wave: its error is that of a window which all knobs share.
constexpr int kKnobFirstGrowths = 1;
// Gain that a move must promise: less is not seen in the noise.
constexpr double kWorth = 0.01;
// How fast a knob forgets, per unit of ln that the others move: they shift its optimum.
constexpr double kKnobFade = 0.25;
// Factors on a knob's longest step when its slope has changed sign, and when not: those of RPROP.
constexpr double kKnobStepShrink = 0.5;
constexpr double kKnobStepGrowth = 1.2;

}  // namespace

KnobClimber::KnobClimber(const SpectralSettings& settings, std::vector<KnobRange> knobs,
                         const std::vector<int>& values)
    : settings_(settings.validated()), values_(values), earlier_(values), journal_(settings) {
  if (knobs.empty() || knobs.size() > kMostKnobs || knobs.size() != values.size()) {
    throw std::invalid_argument("a climb needs one to four knobs with a value each");
  }
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    knobs[k].limits.require(values[k]);
    knobs_.push_back({.range = knobs[k],
                      .belief = Belief(knobs[k].limits, kBeliefPoints),
                      .wave = {},
                      .value = values[k],
                      .growths = 0,
                      .done = false,
                      .series = {}});
  }
  reserve();
  ratios_.resize(knobs_.size());
  errors_.resize(knobs_.size());
  restart(values_, Reason::kStart);
  record({}, earlier_);
}

const std::vector<int>& KnobClimber::update(const Sample& sample, std::span<const int> in_force) {
  ++samples_;
  Sample checked = sample;
  checked.size = in_force.empty() ? 1 : std::max(1, in_force.front());
  const Flaw flaw = flaw_of(checked, kClockJump * settings_.hcm_period);
  if (flaw != Flaw::kNone) {
    if (mode_ != Mode::kOptimized) begin(Reason::kFlawed);
    reason_ = Reason::kFlawed;
  } else if (!settings_.hcm_hillclimbing_enabled) {
    leave_alone(in_force);
  } else if (older(in_force)) {
    if (reason_ == Reason::kStart) reason_ = Reason::kSettling;
  } else if (!std::equal(values_.begin(), values_.end(), in_force.begin(), in_force.end())) {
    restart(in_force, Reason::kForced);
  } else if (sample.connections == 0.0 ||
             is_too_little(checked, settings_.min_accepted_throughput)) {
    if (mode_ != Mode::kOptimized) begin(Reason::kTooLow);
    reason_ = Reason::kTooLow;
  } else if (mode_ == Mode::kOptimized) {
    hold(sample);
  } else {
    climb(sample);
  }
  earlier_.clear();
  record(sample, in_force, flaw);
  return values_;
}

void KnobClimber::restart(std::span<const int> values, Reason reason) {
  mode_ = Mode::kUsual;
  moved_ = false;
  noise_ = Noise();
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    Knob& knob = knobs_[k];
    knob.value = knob.range.limits.clamp(k < values.size() ? values[k] : knob.value);
    knob.belief.forget();
    knob.growths = kKnobFirstGrowths;
    knob.reach = std::log(kMaxStepRatio);
    knob.last_lead = 0.0;
    knob.done = knob.range.limits.min == knob.range.limits.max;
  }
  begin(reason);
}

// ---- the wave ----

void KnobClimber::begin(Reason reason) {
  for (Knob& knob : knobs_) {
    place_wave(knob);
    knob.series.clear();
  }
  throughputs_.clear();
  settle_left_ = kSettleSamples;
  reason_ = reason;
  ask(0);
}

void KnobClimber::place_wave(Knob& knob) {
  if (knob.done) {
    knob.wave = {.low = knob.value, .high = knob.value};
    return;
  }
  const int threads = wave_threads(settings_, knob.value, knob.growths, noise_.deviation());
  const double half = std::sqrt(1.0 + static_cast<double>(threads) / knob.value);
  const SizeLimits limits = knob.range.limits;
  const auto inside = [&](double wanted) {
    return limits.clamp(static_cast<int>(std::lround(std::min(wanted, 1e9))));
  };
  knob.wave = {.low = inside(knob.value / half), .high = inside(knob.value * half)};
  if (knob.wave.low < knob.wave.high) return;
  if (knob.wave.high < limits.max) {
    ++knob.wave.high;
  } else {
    --knob.wave.low;
  }
}

void KnobClimber::ask(int sample) {
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    values_[k] = knobs_[k].wave.size_at(sample, period(k));
  }
}

void KnobClimber::climb(const Sample& sample) {
  reason_ = Reason::kListening;
  if (settle_left_ > 0) {
    --settle_left_;
    reason_ = Reason::kSettling;
    return;
  }
  throughputs_.push_back(sample.throughput);
  for (std::size_t k = 0; k < knobs_.size(); ++k) knobs_[k].series.push_back(values_[k]);
  const auto samples = static_cast<int>(throughputs_.size());
  if (samples % window() != 0) return ask(samples);
  measure();
  decide();
  if (mode_ != Mode::kOptimized) ask(static_cast<int>(throughputs_.size()));
}

// -1 while the knob's wave is low, 1 while it is high.
double KnobClimber::pattern(std::size_t knob, std::size_t sample) {
  const auto half = static_cast<std::size_t>(period(knob)) / 2;
  return sample / half % 2 == 0 ? -1.0 : 1.0;
}

// What the waves do not explain: interactions of the knobs count as noise, to be on the safe side.
double KnobClimber::residual_variance() const {
  const double mean = mean_of(throughputs_);
  const auto samples = static_cast<double>(throughputs_.size());
  double slopes[kMostKnobs] = {};
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    for (std::size_t i = 0; i < throughputs_.size(); ++i) {
      slopes[k] += pattern(k, i) * throughputs_[i] / samples;
    }
  }
  double squares = 0.0;
  for (std::size_t i = 0; i < throughputs_.size(); ++i) {
    double rest = throughputs_[i] - mean;
    for (std::size_t k = 0; k < knobs_.size(); ++k) rest -= slopes[k] * pattern(k, i);
    squares += rest * rest;
  }
  const double freedom = samples - 1.0 - static_cast<double>(knobs_.size());
  return squares / freedom / (mean * mean);
}

void KnobClimber::measure() {
  const double freedom =
      static_cast<double>(throughputs_.size()) - 1.0 - static_cast<double>(knobs_.size());
  noise_so_far_ = noise_.with(residual_variance(), freedom, kNoiseMemory);
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    ratios_[k] = knobs_[k].range.price;
    errors_[k] = 0.0;
    if (knobs_[k].done) continue;
    const std::size_t cycles = throughputs_.size() / static_cast<std::size_t>(period(k));
    const auto wave = relative_component(knobs_[k].series, cycles);
    ratios_[k] = (relative_component(throughputs_, cycles) / wave).real();
    errors_[k] =
        noise_so_far_.ratio_error(static_cast<double>(throughputs_.size()), std::abs(wave));
  }
}

// ---- decisions ----

bool KnobClimber::sure(std::size_t knob) const {
  return !hopeless(knob) && std::abs(lead(knob)) > settings_.confidence * errors_[knob];
}

// Too little to matter, beyond doubt.
bool KnobClimber::hopeless(std::size_t knob) const {
  const double least = kValuableProgress / settings_.samples_to_wave_period_ratio;
  return std::abs(lead(knob)) + settings_.confidence * errors_[knob] < least;
}

void KnobClimber::decide() {
  bool moving = false;
  for (std::size_t k = 0; k < knobs_.size(); ++k) moving = moving || (!knobs_[k].done && sure(k));
  noise_ = noise_so_far_;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    if (!knobs_[k].done) tell(k);
  }
  if (moving) return move_all();
  if (grow()) return begin(Reason::kNoTrendYet);
  settle(Reason::kNoTrendInside);
}

void KnobClimber::tell(std::size_t k) {
  const double rising = rising_probability(lead(k), errors_[k], kTrust);
  knobs_[k].belief.tell(knobs_[k].wave.low, knobs_[k].wave.high, rising);
}

// How far towards the middle of its belief a knob should go, in logarithms.
double KnobClimber::target(std::size_t k) {
  Knob& knob = knobs_[k];
  const double turn = knob.last_lead * lead(k);
  if (turn < 0.0) knob.reach *= kKnobStepShrink;
  if (turn > 0.0) knob.reach *= kKnobStepGrowth;
  knob.reach = std::min(knob.reach, std::log(kMaxStepRatio));
  knob.last_lead = lead(k);
  const double wish = std::log(static_cast<double>(knob.belief.median()) / knob.value);
  return std::clamp(wish, -knob.reach, knob.reach);
}

void KnobClimber::move(std::size_t k, double distance) {
  Knob& knob = knobs_[k];
  const double wanted = std::min(knob.value * std::exp(distance), 1e9);
  knob.value = knob.range.limits.clamp(static_cast<int>(std::lround(wanted)));
  knob.growths = std::max(0, knob.growths - 1);
}

// Moves every knob whose slope is sure; where that promises too little, they are held where they
// have been measured, once a move or larger waves have told that it is no foothill.
void KnobClimber::move_all() {
  double distances[kMostKnobs] = {};
  double all = 0.0;
  double gain = 0.0;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    if (knobs_[k].done || !sure(k)) continue;
    distances[k] = target(k);
    all += std::abs(distances[k]);
    gain += std::abs(lead(k) * distances[k]) / 2.0;  // the slope falls to nothing on the way
  }
  if (gain < kWorth) {
    if (!moved_ && grow()) return begin(Reason::kNoTrendYet);
    return settle(Reason::kFound);
  }
  moved_ = true;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    if (distances[k] != 0.0) move(k, distances[k]);
    knobs_[k].belief.fade(kKnobFade * (all - std::abs(distances[k])));
  }
  begin(Reason::kInside);
}

// Larger waves for every knob whose own has shown nothing.
bool KnobClimber::grow() {
  bool grown = false;
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    Knob& knob = knobs_[k];
    if (knob.done) continue;
    const int widest = largest_wave(settings_, knob.value);
    if (wave_threads(settings_, knob.value, knob.growths, noise_.deviation()) < widest) {
      ++knob.growths;
      grown = true;
    } else if (hopeless(k)) {
      knob.done = true;
    }
  }
  return grown;
}

void KnobClimber::settle(Reason reason) {
  mode_ = Mode::kOptimized;
  reason_ = reason;
  for (std::size_t k = 0; k < knobs_.size(); ++k) values_[k] = knobs_[k].value;
  settle_left_ = window();  // what the waves held up must be gone before the optimum is judged
  watch_.clear(noise_.deviation());
  swinging_ = mean_of(throughputs_);
}

void KnobClimber::hold(const Sample& sample) {
  if (settle_left_ > 0) {
    --settle_left_;
    reason_ = Reason::kSettling;
    return;
  }
  const bool young = watch_.samples() < kReferenceSamples;
  const int patience = samples_in(settings_.hcm_hiccup, period_s());
  const Departure departure = watch_.add(sample, settings_, patience);
  reason_ = watch_.checking() ? Reason::kChecking : Reason::kHolding;
  switch (departure) {
    case Departure::kNone:
      if (young && false_optimum()) restart_higher();
      return;
    case Departure::kThroughput:
      return restart(values_, Reason::kThroughputLeft);
    case Departure::kConnections:
      return restart(values_, Reason::kConnectionsLeft);
    case Departure::kLatency:
      return restart(values_, Reason::kLatencyLeft);
  }
}

// Held values give far less than they did between swings of the waves: the pool had not yet let go
// of what the larger ones had made.
bool KnobClimber::false_optimum() const {
  return watch_.samples() >= kReferenceSamples && values_[0] < knobs_[0].range.limits.max &&
         watch_.throughput() < (1.0 - kDeviation) * swinging_;
}

void KnobClimber::restart_higher() {
  values_[0] =
      knobs_[0].range.limits.clamp(static_cast<int>(std::lround(values_[0] * kMaxStepRatio)));
  restart(values_, Reason::kFalseSummit);
}

}  // namespace poolpilot
