// Spectral hill climbing on the pool size: a wave goes in, its echo in the throughput decides.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "climb/bracket.hpp"
#include "climb/curve.hpp"
#include "climb/decision.hpp"
#include "climb/hold.hpp"
#include "climb/noise.hpp"
#include "climb/sample.hpp"
#include "climb/settings.hpp"
#include "climb/step.hpp"
#include "climb/trend.hpp"
#include "climb/wave.hpp"

namespace poolpilot {

// Maximises ln(throughput) - e ln(size) over min_size..max_size on a curve with one summit or a
// plateau. No clock, no threads, no randomness: call update() once per sampling interval, set the
// size it returns, and hand in what that size gave.
class SpectralClimber {
 public:
  // Throws std::invalid_argument unless the settings are valid and
  // 1 <= min_size <= initial_size <= max_size. `warm` starts by holding `initial_size`.
  SpectralClimber(const SpectralSettings& settings, int initial_size, int min_size, int max_size,
                  bool warm = false);

  // Takes the sample measured under the size in force and returns the size to set next. Throws
  // std::invalid_argument when a value of the sample is negative or not finite.
  int update(const Sample& sample);

  Mode mode() const { return mode_; }
  const std::deque<ClimbDecision>& log() const { return log_; }

 private:
  // Samples in (spectral.cpp).
  int idle();
  int pause();
  int climb(const Sample& sample);
  int hold(const Sample& sample);
  int retreat(int collapsed_size);
  bool steep_decline(const Sample& sample);
  bool curve_changed();
  bool false_summit() const;
  void decide();

  // Moves out (spectral_moves.cpp).
  double weight_of(double lead) const;
  bool wave_can_grow() const;
  void rise(double lead);
  void fall(double lead);
  void flatten();
  void narrow(const std::string& reason);
  void conclude(int size, const std::string& reason);
  void doubt_low();
  void doubt_high();
  void jump_up(double lead);
  void jump_down(double lead);
  void walk_left();
  int leave(Departure departure);
  void optimize(int size, const std::string& reason);
  int restart(int size, const std::string& reason, std::optional<int> limit = std::nullopt);
  Wave wave_at(int size) const;
  void begin(Wave wave, const std::string& reason);
  void note(const std::string& reason);

  SpectralSettings settings_;
  int min_size_;
  int max_size_;
  int requested_;
  Mode mode_ = Mode::kUsual;

  // The wave under way and what it has measured so far.
  Wave wave_;
  int growths_ = 0;
  int settle_left_ = 0;
  std::vector<double> sizes_;
  std::vector<double> throughputs_;
  double ratio_ = 0.0;
  double error_ = 0.0;

  // What this climb has learnt.
  Bracket bracket_;
  Noise noise_;
  CurveMemory curve_;
  StepLength step_;
  int plateau_right_ = 0;  // right end of what is known to be flat
  int doubts_left_ = 0;

  // What makes it start again.
  HoldWatch watch_;
  std::deque<double> last_period_;
  int declines_ = 0;
  int wrong_predictions_ = 0;
  int last_low_ = 1;  // low size of the wave before
  double connections_ = 0.0;
  bool idle_ = false;
  bool paused_ = false;

  std::int64_t samples_ = 0;
  std::deque<ClimbDecision> log_;
};

}  // namespace poolpilot
