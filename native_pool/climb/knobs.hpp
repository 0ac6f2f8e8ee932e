// Spectral climbing on many knobs at once: each has a wave of its own frequency.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "climb/belief.hpp"
#include "climb/decision.hpp"
#include "climb/hold.hpp"
#include "climb/journal.hpp"
#include "climb/knob_decision.hpp"
#include "climb/noise.hpp"
#include "climb/period.hpp"
#include "climb/settings.hpp"
#include "climb/wave.hpp"

namespace poolpilot {

// One whole-numbered knob that is climbed on its logarithm.
struct KnobRange {
  SizeLimits limits;
  double price = 0.0;  // elasticity that a larger value must earn
};

// Maximises ln(throughput) - sum of price_k ln(value_k). Knob k swings with the period
// `kWavePeriod` 2^k, a square wave whose odd harmonics meet no other knob's: every gradient is read
// from its own bin of one spectrum, in one window of the slowest knob's period. Each knob has a
// belief of its own about its optimum; it fades as the other knobs move, since they shift it. Its
// steps shorten where its slope changes sign and lengthen where it does not, so that knobs that
// shift one another's optimum come to rest (M. Riedmiller, H. Braun, "A direct adaptive method for
// faster backpropagation learning: the RPROP algorithm", 1993). A knob whose wave shows nothing
// stays where it is.
//
// The first knob is the pool size, to which the connections are compared. Memory is reserved by the
// constructor and by adopt(); update() allocates none.
class KnobClimber {
 public:
  // Throws std::invalid_argument unless the settings are valid, there are one to four knobs, and
  // every value is within its range.
  KnobClimber(const SpectralSettings& settings, std::vector<KnobRange> knobs,
              const std::vector<int>& values);

  // Other settings from the next sample on, and other prices where there are any: one a knob. Held
  // values stay held, a climb begins anew from where it is; the journal stays. Throws
  // std::invalid_argument where they are not valid, and then keeps the old ones.
  void adopt(const SpectralSettings& settings, std::span<const double> prices = {});

  const SpectralSettings& settings() const { return settings_; }
  const Journal<KnobRecord>& journal() const { return journal_; }

  // Seconds the next sample should last: it is not adapted, as all waves share one window.
  double period_s() const { return settings_.hcm_period; }

  // Values asked for at present.
  const std::vector<int>& values() const { return values_; }

  // Takes the sample measured under the values in force (its size is ignored) and returns the
  // values to set next.
  const std::vector<int>& update(const Sample& sample, std::span<const int> in_force);

  Mode mode() const { return mode_; }
  std::int64_t samples() const { return samples_; }
  Reason reason() const { return reason_; }

  // Elasticity seen last at each knob's frequency, and its standard error.
  const std::vector<double>& ratios() const { return ratios_; }
  const std::vector<double>& errors() const { return errors_; }

 private:
  struct Knob {
    KnobRange range;
    Belief belief;
    Wave wave;
    int value;  // middle of the wave
    int growths = 0;
    double reach = 0.0;  // most that one move changes its logarithm
    double last_lead = 0.0;
    bool done = false;
    std::vector<double> series;  // values in force during the wave
  };

  void reserve();
  bool older(std::span<const int> in_force) const;
  void leave_alone(std::span<const int> in_force);
  void record(const Sample& sample, std::span<const int> in_force, Flaw flaw = Flaw::kNone);
  void restart(std::span<const int> values, Reason reason);
  void climb(const Sample& sample);
  void hold(const Sample& sample);
  bool false_optimum() const;
  void restart_higher();
  void measure();
  double residual_variance() const;
  static double pattern(std::size_t knob, std::size_t sample);
  void decide();
  void tell(std::size_t knob);
  void move_all();
  double target(std::size_t knob);
  void move(std::size_t knob, double distance);
  bool sure(std::size_t knob) const;
  bool hopeless(std::size_t knob) const;
  bool grow();
  void settle(Reason reason);
  void begin(Reason reason);
  void place_wave(Knob& knob);
  void ask(int sample);
  static int period(std::size_t knob) { return kWavePeriod << knob; }
  int window() const { return period(knobs_.size() - 1); }
  double lead(std::size_t knob) const { return ratios_[knob] - knobs_[knob].range.price; }

  SpectralSettings settings_;
  std::vector<Knob> knobs_;
  std::vector<int> values_;
  std::vector<int> earlier_;  // asked for before the constructor or adopt() began a wave
  std::vector<double> throughputs_;
  std::vector<double> ratios_;
  std::vector<double> errors_;
  Noise noise_;         // of the waves before
  Noise noise_so_far_;  // joined by that of the wave under way, as measured last
  HoldWatch watch_;
  Mode mode_ = Mode::kUsual;
  Reason reason_ = Reason::kStart;
  double swinging_ = 0.0;  // mean throughput of the last window before it held
  int settle_left_ = 0;
  bool moved_ = false;  // since this climb began
  std::int64_t samples_ = 0;
  Journal<KnobRecord> journal_;
};

}  // namespace poolpilot
