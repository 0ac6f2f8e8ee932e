#include "climb/settings.hpp"

#include <array>

namespace poolpilot {
namespace {

using S = SpectralSettings;
using Field = SettingField<S>;

constexpr const char* kSwitch = "switch";
constexpr const char* kThreads = "threads at the reference size";
constexpr const char* kSamples = "samples";
constexpr const char* kRatio = "ratio";

const std::array kFields{
    Field{&S::hcm_hillclimbing_enabled, "hcm_hillclimbing_enabled", kSwitch, 0, 1,
          "Off: the size in force is left alone."},
    Field{&S::hcm_log_enabled, "hcm_log_enabled", kSwitch, 0, 1,
          "Keeps a record of every update; off: only of the latest."},
    Field{&S::wave_period, "wave_period", kSamples, 4, 64,
          "Period of the wave on the size, an even number: half of it low, half high."},
    Field{&S::samples_to_wave_period_ratio, "samples_to_wave_period_ratio", "periods", 2, 64,
          "Periods in a full window, over which noise is measured and patience is counted."},
    Field{&S::hcm_period, "hcm_period", "seconds", 1e-3, 3600,
          "Longest time between two updates; the time itself where it is not adapted."},
    Field{&S::min_accepted_throughput, "min_accepted_throughput", "requests per second", 0,
          kUnbounded, "Throughput under which the climb pauses, unless requests wait."},
    Field{&S::hcm_eps, "hcm_eps", "threads", 0, kUnbounded,
          "Bracket around the optimum that counts as found, where gain is not relative."},
    Field{&S::hcm_valuable_diff, "hcm_valuable_diff", "per cent", 1, 1000,
          "Deviation from what was expected that means another workload."},
    Field{&S::hcm_ccs_valuable_progress, "hcm_ccs_valuable_progress", "accumulated ratio", 0.001,
          10, "Slope, summed over the periods of a wave, that moves the size."},
    Field{&S::hcm_min_thread_wave_magnitude, "hcm_min_thread_wave_magnitude", kThreads, 1,
          kUnbounded, "First wave."},
    Field{&S::hcm_max_thread_wave_magnitude, "hcm_max_thread_wave_magnitude", kThreads, 1,
          kUnbounded, "Largest wave: one that shows no trend is a plateau."},
    Field{&S::relative_gain, "relative_gain", kSwitch, 0, 1,
          "Waves, steps and accuracy in proportion to the size; off: in threads."},
    Field{&S::wave_follows_noise, "wave_follows_noise", kSwitch, 0, 1,
          "Makes the first wave as large as the measured noise asks for."},
    Field{&S::reset_on_forced_change, "reset_on_forced_change", kSwitch, 0, 1,
          "Forgets what was learnt when somebody else has changed the size."},
    Field{&S::test_significance, "test_significance", kSwitch, 0, 1,
          "Believes a wave as far as it stands out of the neighbouring bins; off: every wave."},
    Field{&S::price_of_thread, "price_of_thread", "elasticity", 0, 1,
          "Per cent of throughput that one per cent more threads must buy."},
    Field{&S::adapt_period, "adapt_period", kSwitch, 0, 1,
          "Makes the interval as short as the noise allows; off: always hcm_period."},
    Field{&S::verify_warm_start, "verify_warm_start", kSwitch, 0, 1,
          "A warm start looks round before it holds; off: it holds at once."},
    Field{&S::hcm_reference_size, "hcm_reference_size", "threads", 1, kUnbounded,
          "Pool size for which settings in threads are meant."},
    Field{&S::wave_growth, "wave_growth", kRatio, 1.1, 10,
          "Factor on a wave that has shown no trend."},
    Field{&S::wave_noise_multiplier, "wave_noise_multiplier", kRatio, 0, 100,
          "First wave over size, in relative noise of one sample."},
    Field{&S::hcm_inner_wave, "hcm_inner_wave", "share of the bracket", 0.01, 1,
          "Largest wave inside the bracket, in logarithms."},
    Field{&S::knob_first_growths, "knob_first_growths", "growths", 0, 16,
          "Growths of the first wave of each knob, where many are climbed at once."},
    Field{&S::settle_samples, "settle_samples", kSamples, 0, 64,
          "Samples dropped after the base of the wave has moved."},
    Field{&S::hcm_min_period, "hcm_min_period", "seconds", 1e-3, 3600,
          "Shortest time between two updates, where it is adapted."},
    Field{&S::hcm_period_noise, "hcm_period_noise", "share", 0.001, 1,
          "Relative noise of a sample up to which the interval is shortened."},
    Field{&S::scan_rounds, "scan_rounds", "rounds", 0, 1024,
          "Rounds at most of a look at sizes far apart, before the first wave or a hold; 0: none."},
    Field{&S::scan_ratio, "scan_ratio", kRatio, 1.5, 16, "Factor between two sizes of that look."},
    Field{&S::scan_margin, "scan_margin", kRatio, 1.1, 100,
          "Factor below the best of the first round at which a size is left out of the others."},
    Field{&S::scan_confidence, "scan_confidence", "standard errors", 0.5, 10,
          "Distance from the best at which it is left out of later rounds."},
    Field{&S::scan_worth, "scan_worth", "share of throughput", 0.001, 1,
          "Gain that more threads may still have where the fewest that do as well are taken."},
    Field{&S::min_periods_to_decide, "min_periods_to_decide", "periods", 2, 64,
          "Periods of the first wave, which has to measure the noise too."},
    Field{&S::min_periods_known_noise, "min_periods_known_noise", "periods", 1, 64,
          "Periods after which a later wave may decide."},
    Field{&S::hcm_growth_periods, "hcm_growth_periods", "periods", 1, 64,
          "Periods without a trend after which a wave grows, if it can."},
    Field{&S::hcm_patience, "hcm_patience", "windows", 1, 64,
          "Full windows after which a wave is taken for what it is."},
    Field{&S::hcm_plateau_periods, "hcm_plateau_periods", "periods", 1, 64,
          "Periods without a trend after which the walk left on a plateau goes on."},
    Field{&S::confidence, "confidence", "standard errors", 0.5, 10,
          "Slope over its error that makes its sign sure."},
    Field{&S::hcm_trust, "hcm_trust", "probability", 0.6, 0.9999,
          "Most that one wave is believed."},
    Field{&S::hcm_flat_trust, "hcm_flat_trust", "probability", 0.5, 0.99,
          "Belief, where the largest wave shows nothing, that fewer threads do as well."},
    Field{&S::noise_memory, "noise_memory", "degrees of freedom", 4, 10000,
          "Bins the noise is averaged over; older ones fade."},
    Field{&S::hcm_step_gain, "hcm_step_gain", kRatio, 0.01, 100,
          "First ln(new size / size) per unit of slope."},
    Field{&S::hcm_max_step_ratio, "hcm_max_step_ratio", kRatio, 1.1, 16,
          "Largest factor by which one move changes the size."},
    Field{&S::hcm_plateau_factor, "hcm_plateau_factor", kRatio, 0, 0.49,
          "k of the walk left on a plateau: size (0.5 + k exp(-k' size))."},
    Field{&S::hcm_plateau_decay, "hcm_plateau_decay", "per thread", 0, 1, "k' of that walk."},
    Field{&S::hcm_credible, "hcm_credible", "probability", 0.5, 0.999,
          "Belief that the bracket around the optimum must hold."},
    Field{&S::hcm_accuracy, "hcm_accuracy", "share", 0, 1,
          "Bracket over the size that counts as found, where gain is relative."},
    Field{&S::hcm_worth, "hcm_worth", "share of throughput", 0, 1,
          "Gain a move of many knobs must promise; less, and they are held."},
    Field{&S::hcm_false_optimized_excess, "hcm_false_optimized_excess", "threads", 0, kUnbounded,
          "Size above the connections that cannot be an optimum."},
    Field{&S::hcm_false_jump_ratio, "hcm_false_jump_ratio", kRatio, 0, 1,
          "Connections over size under which a jump is refused."},
    Field{&S::knob_fade, "knob_fade", "per unit of ln", 0, 10,
          "How fast a knob forgets while the others move."},
    Field{&S::knob_step_shrink, "knob_step_shrink", kRatio, 0.1, 1,
          "Factor on a knob's longest step, in logarithms, when its slope has changed sign."},
    Field{&S::knob_step_growth, "knob_step_growth", kRatio, 1, 3, "The same when it has not."},
    Field{&S::warm_wave_share, "warm_wave_share", kRatio, 0.01, 1,
          "Wave of a warm start over that of a cold one."},
    Field{&S::warm_bracket, "warm_bracket", kRatio, 1.1, 100,
          "Factor to either side of a warm start within which the optimum is looked for first."},
    Field{&S::hcm_reference_samples, "hcm_reference_samples", kSamples, 2, 1024,
          "Samples averaged before a held size is judged."},
    Field{&S::hcm_exit_samples, "hcm_exit_samples", kSamples, 1, 1024,
          "Latest samples that are compared with the reference."},
    Field{&S::hcm_quick_exit_samples, "hcm_quick_exit_samples", kSamples, 0, 64,
          "Latest samples that are enough for a large deviation; 0: never so few."},
    Field{&S::hcm_quick_reference_samples, "hcm_quick_reference_samples", kSamples, 2, 1024,
          "Samples of the reference that those few need, where the climb has measured the noise."},
    Field{&S::hcm_exit_confidence, "hcm_exit_confidence", "standard errors", 0, 100,
          "Errors that a deviation must exceed as well."},
    Field{&S::hcm_hiccup, "hcm_hiccup", "seconds", 0, 3600,
          "Time for which a held size that has left its reference is measured again first."},
    Field{&S::hcm_return_ratio, "hcm_return_ratio", kRatio, 1.1, 16,
          "Largest factor of one change of the size after a held one has been left."},
    Field{&S::hcm_steep_decline, "hcm_steep_decline", "per cent", 10, 100,
          "Fall below the last period of a wave that is unnatural."},
    Field{&S::hcm_steep_samples, "hcm_steep_samples", kSamples, 1, 64,
          "Samples in a row that must have fallen so."},
    Field{&S::hcm_wrong_predictions, "hcm_wrong_predictions", "periods", 1, 64,
          "Periods in a row that known points of the curve have not foretold: it has changed."},
    Field{&S::hcm_interpolation_ratio, "hcm_interpolation_ratio", kRatio, 1, 16,
          "Largest factor between two known sizes that are interpolated."},
    Field{&S::hcm_clock_jump, "hcm_clock_jump", kRatio, 2, 1e6,
          "Length of a sample over the longest asked for that means a jump of the clock."},
    Field{&S::log_limit, "log_limit", "records", 1, 1e6, "Latest records kept."},
    Field{&S::belief_points, "belief_points", "sizes", 8, 1e5,
          "Sizes that the belief tells apart: all small ones, larger ones at equal factors."},
    Field{&S::curve_points, "curve_points", "sizes", 2, 1e5,
          "Sizes whose throughput is remembered."},
};

void refuse_below(const char* name, double value, const char* other, double least) {
  if (value >= least) return;
  std::ostringstream allowed;
  allowed << "at least " << least << ", the value of " << other;
  refuse_setting(name, value, allowed.str());
}

}  // namespace

std::span<const Field> SpectralSettings::fields() { return kFields; }

void SpectralSettings::validate() const {
  require_ranges(*this);
  if (wave_period % 2 != 0) refuse_setting("wave_period", wave_period, "an even number in 4..64");
  refuse_below("samples_to_wave_period_ratio", samples_to_wave_period_ratio,
               "min_periods_to_decide", min_periods_to_decide);
  refuse_below("samples_to_wave_period_ratio", samples_to_wave_period_ratio,
               "min_periods_known_noise", min_periods_known_noise);
  refuse_below("hcm_max_thread_wave_magnitude", hcm_max_thread_wave_magnitude,
               "hcm_min_thread_wave_magnitude", hcm_min_thread_wave_magnitude);
  refuse_below("hcm_period", hcm_period, "hcm_min_period", adapt_period ? hcm_min_period : 0.0);
  refuse_below("hcm_exit_samples", hcm_exit_samples, "hcm_quick_exit_samples",
               hcm_quick_exit_samples);
}

SpectralSettings SpectralSettings::article() {
  SpectralSettings settings;
  settings.relative_gain = false;
  settings.wave_follows_noise = false;
  settings.reset_on_forced_change = false;
  settings.test_significance = false;
  settings.price_of_thread = 0.0;
  settings.adapt_period = false;
  settings.verify_warm_start = false;
  settings.scan_rounds = 0;
  settings.hcm_hiccup = 0.0;
  settings.min_periods_known_noise = settings.min_periods_to_decide;
  settings.hcm_patience = 1;
  settings.hcm_plateau_periods = settings.samples_to_wave_period_ratio;
  settings.hcm_quick_exit_samples = 0;
  return settings;
}

}  // namespace poolpilot
