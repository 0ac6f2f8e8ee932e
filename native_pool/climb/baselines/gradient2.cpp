#include "climb/baselines/gradient2.hpp"

#include <algorithm>

namespace poolpilot {
namespace {

constexpr int kWarmUp = 10;
constexpr double kBadTimeIsOver = 2.0;
constexpr double kCut = 0.9;

}  // namespace

Gradient2Climber::Gradient2Climber(const Gradient2Settings& settings, int initial_size,
                                   SizeLimits limits)
    : Climber(initial_size, limits),
      settings_(settings),
      long_latency_s_(settings.long_window, kWarmUp),
      limit_(initial_size) {
  settings.validate();
}

std::span<const SettingField<Gradient2Settings>> Gradient2Settings::fields() {
  using Settings = Gradient2Settings;
  static const SettingField<Settings> kFields[] = {
      {&Settings::smoothing, "smoothing", "share", 0.001, 1,
       "Weight of the limit that a sample asks for in the new one."},
      {&Settings::queue_size, "queue_size", "requests", 0, 1000,
       "What a sample asks for beyond the gradient: as many may wait inside."},
      {&Settings::tolerance, "tolerance", "factor", 0.1, 100,
       "Rise of latency over its long-term mean that is no reason to shrink."},
      {&Settings::long_window, "long_window", "samples", 1, 100'000,
       "Samples that the long-term mean of latency remembers."},
      {&Settings::interval_s, "interval_s", "seconds", 0.001, 3600, "Length of a sample."}};
  return kFields;
}

void Gradient2Settings::validate() const { require_ranges(*this); }

int Gradient2Climber::next(const Sample& sample) {
  if (sample.size != size()) limit_ = sample.size;
  const double short_latency_s = sample.latency_s;
  if (short_latency_s <= 0.0) return sample.size;
  const double long_latency_s = long_latency_s_.add(short_latency_s);
  if (long_latency_s / short_latency_s > kBadTimeIsOver) long_latency_s_.scale(kCut);
  if (in_system_of(sample) < limit_ / 2.0) return sample.size;
  const double gradient =
      std::clamp(settings_.tolerance * long_latency_s / short_latency_s, 0.5, 1.0);
  const double wanted = gradient * limit_ + settings_.queue_size;
  const double smoothed = (1.0 - settings_.smoothing) * limit_ + settings_.smoothing * wanted;
  limit_ = std::clamp<double>(smoothed, limits().min, limits().max);
  return static_cast<int>(limit_);
}

}  // namespace poolpilot
