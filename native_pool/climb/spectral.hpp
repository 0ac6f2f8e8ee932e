// Spectral hill climbing on the pool size: a wave goes in, its echo in the throughput decides.
#pragma once

#include <cstdint>
#include <optional>

#include "climb/belief.hpp"
#include "climb/climber.hpp"
#include "climb/curve.hpp"
#include "climb/decision.hpp"
#include "climb/echo.hpp"
#include "climb/hold.hpp"
#include "climb/journal.hpp"
#include "climb/period.hpp"
#include "climb/scan.hpp"
#include "climb/settings.hpp"
#include "climb/step.hpp"
#include "climb/wave.hpp"

namespace poolpilot {

// Maximises ln(throughput) - e ln(size) on a curve with one optimum or a plateau. Call update()
// once per sampling interval of period_s() seconds, set the size it returns, and hand in what that
// size gave. Memory is reserved by the constructor and by adopt(); update() allocates none.
class SpectralClimber : public Climber {
 public:
  // Throws std::invalid_argument unless the settings are valid and
  // 1 <= limits.min <= initial_size <= limits.max. A `warm` one believes that `initial_size` is
  // near the optimum.
  SpectralClimber(const SpectralSettings& settings, int initial_size, SizeLimits limits,
                  bool warm = false);

  // Other settings from the next sample on. A held size stays held, a climb begins anew from where
  // it is; the journal stays. Throws std::invalid_argument where they are not valid, and then keeps
  // the old ones.
  void adopt(const SpectralSettings& settings);

  const SpectralSettings& settings() const { return settings_; }
  Mode mode() const { return mode_; }
  const Journal<ClimbRecord>& journal() const { return journal_; }
  double period_s() const override { return period_.seconds(settings_); }

 protected:
  int next(const Sample& sample) override;
  void dropped(const Sample& sample, Flaw flaw) override;
  // While it scans there is no wave whose phase a hole would shift: a server that is slow to be
  // looked at is choked by the size in force, which is to be left.
  double longest_s() const override {
    if (!holds() && !scan_.over()) return Climber::longest_s();
    return kClockJump * settings_.hcm_period;
  }

 private:
  // Samples in (spectral.cpp).
  void evaluate_weights(const Sample& sample);
  void forced(int size);
  void idle();
  void pause();
  void scan(const Sample& sample);
  void climb(const Sample& sample);
  void hold(const Sample& sample);
  void limit_to_connections();
  bool holds() const { return mode_ == Mode::kOptimized || watch_.checking(); }
  void retreat(int collapsed_size);
  bool steep_decline(const Sample& sample);
  bool curve_changed();
  void changed();
  bool came_back(const Sample& sample);
  bool false_optimum() const;
  void record(const Sample& sample, Flaw flaw = Flaw::kNone);

  // What a wave says (spectral_waves.cpp).
  void listen();
  double lead() const { return answer_.ratio - settings_.price_of_thread; }
  double doubt() const;
  double rising_probability() const;
  bool wave_can_grow() const;
  int patience() const;
  void judge_duel();
  void rise();
  void fall(bool flat);
  void flatten();
  void conclude_wave(double rising);

  // Moves out (spectral_moves.cpp).
  int bracket_low() const;
  int bracket_high() const;
  bool bracket_narrow() const;
  void narrow(Reason reason);
  double inner_share() const;
  void look_around(int size, int threads, Reason reason);
  void jump_up();
  void jump_down();
  void walk_left();
  void grow();
  void arrive(int size, Reason reason);
  void settle(int size, Reason reason);
  void hold_at(int size, Reason reason);
  void leave(Departure departure);
  void come_back();
  void climb_from(int size, Reason reason, bool careful);
  void restart(int size, Reason reason, std::optional<int> limit = std::nullopt);
  void forget();
  void begin(Wave wave, Reason reason);
  int careful_step(int from, int to) const;
  void rewind(Reason reason);
  void begin_scan(int size);
  void climb_around(int size, double ratio, Reason reason);
  void begin_warm(int size);
  Wave wave_at(int size) const;

  SpectralSettings settings_;
  std::optional<int> earlier_;  // size in force before the constructor or adopt() began a wave
  Mode mode_ = Mode::kUsual;
  Reason reason_ = Reason::kStart;
  double deviation_ = 0.0;  // of what has left its reference with this sample

  // The look at sizes far apart, and the size that must be beaten before another is held.
  Scan scan_;
  std::optional<int> champion_;
  bool scanned_ = false;  // the champion's neighbours have been measured too
  int pays_above_ = 0;    // more threads than so many have been shown to pay
  bool duel_ = false;     // the wave stands between the champion and the size found
  bool careful_ = false;  // this climb has left a held size: it moves in small steps

  // The wave under way and what it has measured so far.
  Wave wave_;
  Echo echo_;
  Answer answer_;
  int growths_ = 0;
  int inner_growths_ = 0;  // the same of waves inside the bracket
  int settle_left_ = 0;
  bool inside_ = false;  // the wave stands around the middle of the bracket

  // What this climb has learnt.
  Belief belief_;
  CurveMemory curve_;
  StepLength step_;
  Period period_;

  // What makes it start again.
  HoldWatch watch_;
  HoldWatch left_;  // the watch over the size that this careful climb has left
  std::optional<std::int64_t> came_back_at_;  // the sample
  Ring<double> last_period_;
  int declines_ = 0;
  int wrong_predictions_ = 0;
  int last_low_ = 1;  // low size of the wave before
  double connections_ = 0.0;
  bool given_ = false;  // a warm start that nobody has used yet
  bool idle_ = false;
  bool paused_ = false;

  std::int64_t samples_ = 0;
  Journal<ClimbRecord> journal_;
};

}  // namespace poolpilot
