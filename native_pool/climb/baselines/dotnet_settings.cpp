#include "climb/baselines/dotnet_settings.hpp"

#include <sstream>

namespace poolpilot {
namespace {

using Settings = DotnetSettings;
constexpr SettingField<Settings> kFields[] = {
    {&Settings::wave_period, "wave_period", "samples", 4, 64,
     "Period of the wave on the size; even."},
    {&Settings::wave_history_size, "wave_history_size", "periods", 2, 64,
     "Periods of the wave that are analysed."},
    {&Settings::max_wave_magnitude, "max_wave_magnitude", "threads", 1, 1e6,
     "Largest height of the wave."},
    {&Settings::wave_magnitude_multiplier, "wave_magnitude_multiplier", "factor", 0, 100,
     "Height of the wave against what the noise calls for."},
    {&Settings::bias, "bias", "elasticity", 0, 10,
     "Gain in throughput, in percent for a percent of threads, below which the size falls."},
    {&Settings::target_signal_to_noise_ratio, "target_signal_to_noise_ratio", "factor", 0.001, 1000,
     "Wave over noise that earns full confidence."},
    {&Settings::max_change_per_second, "max_change_per_second", "threads per second", 0, 1e6,
     "Speed at full response and full confidence."},
    {&Settings::max_change_per_sample, "max_change_per_sample", "threads", 0, 1e6,
     "Largest growth by one sample."},
    {&Settings::sample_interval_low_ms, "sample_interval_low_ms", "ms", 1, 3600000,
     "Shortest sample asked for."},
    {&Settings::sample_interval_high_ms, "sample_interval_high_ms", "ms", 1, 3600000,
     "Longest sample asked for."},
    {&Settings::error_smoothing_factor, "error_smoothing_factor", "share", 0, 1,
     "Weight of the latest noise in its moving average."},
    {&Settings::gain_exponent, "gain_exponent", "power", 0.1, 10,
     "Power to which the response is raised: large ones ignore weak responses."},
    {&Settings::max_sample_error, "max_sample_error", "share", 0.001, 1000,
     "Other threads over completions from which a sample must be continued."},
    {&Settings::seed, "seed", "number", 0, 2147483647, "Seed of the random sample intervals."}};

}  // namespace

std::span<const SettingField<DotnetSettings>> DotnetSettings::fields() { return kFields; }

void DotnetSettings::validate() const {
  require_ranges(*this);
  if (wave_period % 2 != 0) refuse_setting("wave_period", wave_period, "an even number");
  if (sample_interval_low_ms <= sample_interval_high_ms) return;
  std::ostringstream allowed;
  allowed << "at most sample_interval_high_ms, which is " << sample_interval_high_ms;
  refuse_setting("sample_interval_low_ms", sample_interval_low_ms, allowed.str());
}

}  // namespace poolpilot
