// What a wave says once its latest period is full.
#include <algorithm>
#include <cmath>

#include "climb/spectral.hpp"

namespace poolpilot {
namespace {

// Periods of a wave that has to measure the noise too.
constexpr int kPeriodsToDecide = 2;

// Belief, where the largest wave shows nothing, that fewer threads do as well: three to one, for
// a climb that is wrong comes back.
constexpr double kFlatTrust = 0.75;

}  // namespace

void SpectralClimber::listen() {
  const bool noise_known = echo_.noise_known();
  answer_ = echo_.answer();
  const bool early = noise_known && !settings_.trubs_method;
  if (answer_.periods < (early ? 1 : kPeriodsToDecide)) return;
  if (duel_) return judge_duel();
  const double progress = lead() * answer_.periods;
  const double hopeless = kValuableProgress / settings_.samples_to_wave_period_ratio;
  const double error = doubt();
  const bool flat = std::abs(lead()) + error < hopeless;
  const bool sure = std::abs(lead()) > error;
  if (sure && (flat || std::abs(progress) >= kValuableProgress)) {
    if (flat && !inside_ && wave_can_grow()) return grow();
    return lead() > 0.0 ? rise() : fall(flat && !inside_);
  }
  if (!flat && answer_.periods < patience()) return;
  flatten();
}

// The champion stays where the other is not seen to be better.
void SpectralClimber::judge_duel() {
  const bool sure = std::abs(lead()) > doubt();
  if (!sure && answer_.periods < settings_.samples_to_wave_period_ratio) return;
  const int better = lead() > 0.0 ? wave_.high : wave_.low;
  const int champion = champion_.value();
  const int other = champion >= wave_.high ? wave_.high : wave_.low;
  const int chosen = sure ? better : other;
  duel_ = false;
  echo_.conclude();
  // On the way back to a champion that is further than one step.
  if (chosen == other && chosen != champion) return arrive(chosen, Reason::kFound);
  champion_.reset();
  settle(chosen, Reason::kFound);
}

// Lead that the noise may have made; Trub believes every wave.
double SpectralClimber::doubt() const {
  return settings_.trubs_method ? 0.0 : settings_.confidence * answer_.error;
}

// Periods after which a wave is taken for what it is. On a plateau a false step is found out by the
// next wave, while every further period is one more beyond the knee.
int SpectralClimber::patience() const {
  const int window = settings_.samples_to_wave_period_ratio;
  if (!inside_ && wave_can_grow()) return window / 2;
  return !inside_ && mode_ == Mode::kPlateau && !settings_.trubs_method ? 1 : window;
}

double SpectralClimber::rising_probability() const {
  const double error = settings_.trubs_method ? 0.0 : answer_.error;
  return poolpilot::rising_probability(lead(), error, kTrust);
}

bool SpectralClimber::wave_can_grow() const {
  const int most = belief_.limits().max;
  const int widest = std::min(largest_wave(settings_, wave_.low), most - wave_.low);
  return wave_.high < careful_step(wave_.low, wave_.low + widest);
}

void SpectralClimber::rise() {
  mode_ = Mode::kUsual;
  inner_growths_ = 0;
  conclude_wave(rising_probability());
  if (bracket_narrow()) return arrive(belief_.median(), Reason::kFound);
  jump_up();
}

void SpectralClimber::fall(bool flat) {
  mode_ = flat ? Mode::kPlateau : Mode::kUsual;
  inner_growths_ = 0;
  conclude_wave(rising_probability());
  if (bracket_narrow()) return arrive(belief_.median(), Reason::kFound);
  if (flat) return walk_left();
  jump_down();
}

// The noise hides the slope, if there is one.
void SpectralClimber::flatten() {
  if (!inside_ && wave_can_grow()) return grow();
  if (inside_) {
    if (scanned_ || inner_share() >= 1.0) return arrive(belief_.median(), Reason::kNoTrendInside);
    conclude_wave(rising_probability());
    ++inner_growths_;
    return narrow(Reason::kNoTrendYet);
  }
  mode_ = Mode::kPlateau;
  conclude_wave(std::min(rising_probability(), 1.0 - kFlatTrust));
  if (bracket_narrow()) return arrive(belief_.median(), Reason::kFound);
  walk_left();
}

void SpectralClimber::conclude_wave(double rising) {
  belief_.tell(wave_.low, wave_.high, rising);
  const double clear = 2.0 * settings_.confidence * answer_.error;
  // One misread wave would leave a climb on a plateau, and few samples know little of the noise.
  const double shown = 2.0 * kScanConfidence * answer_.error;
  if (lead() > shown) pays_above_ = std::max(pays_above_, wave_.low);
  // A slope that stood far out of the noise will do so in a smaller wave.
  if (growths_ > 0 && std::abs(lead()) > clear) --growths_;
  echo_.conclude();
  period_.adapt(settings_, echo_.noise_so_far().deviation());
}

}  // namespace poolpilot
