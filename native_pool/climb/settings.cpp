#include "climb/settings.hpp"

#include <array>

namespace poolpilot {
namespace {

using S = SpectralSettings;
using Field = SettingField<S>;

constexpr const char* kSwitch = "switch";

const std::array kFields{
    Field{&S::hcm_hillclimbing_enabled, "hcm_hillclimbing_enabled", kSwitch, 0, 1,
          "Off: the size in force is left alone."},
    Field{&S::hcm_log_enabled, "hcm_log_enabled", kSwitch, 0, 1,
          "Keeps a record of every update; off: only of the latest."},
    Field{&S::log_limit, "log_limit", "records", 1, 1e6, "Latest records kept."},
    Field{&S::samples_to_wave_period_ratio, "samples_to_wave_period_ratio", "periods", 2, 64,
          "Periods after which a wave is taken for what it is; half as many where it can grow."},
    Field{&S::hcm_period, "hcm_period", "seconds", 1e-3, 3600, "Longest time between two updates."},
    Field{&S::hcm_min_period, "hcm_min_period", "seconds", 1e-3, 3600,
          "Shortest time between two updates; as much longer as the noise asks for."},
    Field{&S::min_accepted_throughput, "min_accepted_throughput", "requests per second", 0,
          kUnbounded, "Throughput under which the climb pauses, unless requests wait."},
    Field{&S::hcm_min_thread_wave_magnitude, "hcm_min_thread_wave_magnitude",
          "threads at a size of 36", 1, kLargestWave,
          "First wave; larger where the measured noise asks for it."},
    Field{&S::price_of_thread, "price_of_thread", "elasticity", 0, 1,
          "Per cent of throughput that one per cent more threads must buy."},
    Field{&S::confidence, "confidence", "standard errors", 0.5, 10,
          "Slope over its error that makes its sign sure."},
    Field{&S::scan_rounds, "scan_rounds", "rounds", 0, 1024,
          "Rounds at most of a look at sizes far apart, before the first wave or a hold; 0: none."},
    Field{&S::scan_worth, "scan_worth", "share of throughput", 0.001, 1,
          "Gain that more threads may still have where the fewest that do as well are taken."},
    Field{&S::verify_warm_start, "verify_warm_start", kSwitch, 0, 1,
          "A warm start looks round before it holds; off: it holds at once."},
    Field{&S::hcm_hiccup, "hcm_hiccup", "seconds", 0, 3600,
          "Time for which a held size that has left its reference is measured again first."},
    Field{&S::hcm_quick_exit_samples, "hcm_quick_exit_samples", "samples", 0, kExitSamples,
          "Latest samples that are enough for a large deviation; 0: never so few."},
    Field{&S::trubs_method, "trubs_method", kSwitch, 0, 1,
          "Trub's own: waves and steps in threads, each wave believed, what was learnt kept."},
};

}  // namespace

std::span<const Field> SpectralSettings::fields() { return kFields; }

void SpectralSettings::validate() const {
  require_ranges(*this);
  if (hcm_period >= hcm_min_period) return;
  std::ostringstream allowed;
  allowed << "at least " << hcm_min_period << ", the value of hcm_min_period";
  refuse_setting("hcm_period", hcm_period, allowed.str());
}

SpectralSettings SpectralSettings::article() {
  SpectralSettings settings;
  settings.trubs_method = true;
  settings.hcm_min_period = settings.hcm_period;
  settings.price_of_thread = 0.0;
  settings.verify_warm_start = false;
  settings.scan_rounds = 0;
  settings.hcm_hiccup = 0.0;
  settings.hcm_quick_exit_samples = 0;
  return settings;
}

}  // namespace poolpilot
