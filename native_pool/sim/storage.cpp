#include "sim/storage.hpp"

namespace poolpilot::sim {
namespace {

constexpr std::uint64_t kDiskStream = 2;

}  // namespace

Storage::Storage(Engine& engine, std::uint64_t seed)
    : engine_(engine),
      disks_(static_cast<std::size_t>(engine.machine().disks),
             Station(engine.machine().disk_channels)),
      random_(seed, kDiskStream) {}

void Storage::enter_disk(std::uint32_t number, double service_ns) {
  Thread& thread = engine_.thread(number);
  thread.phase = Phase::kAtDisk;
  thread.disk = static_cast<std::uint16_t>(random_.below(disks_.size()));
  thread.service_ns = service_ns;
  if (disks_[thread.disk].enter(number)) engine_.schedule(whole_ns(service_ns), number);
}

void Storage::leave_disk(std::uint32_t number) {
  Thread& thread = engine_.thread(number);
  std::uint32_t next = 0;
  if (disks_[thread.disk].leave(next)) {
    engine_.schedule(whole_ns(engine_.thread(next).service_ns), next);
  }
  thread.phase = Phase::kWaiting;
}

void Storage::enter_log(std::uint32_t number) {
  engine_.thread(number).phase = Phase::kFlushing;
  next_flush_.push_back(number);
  if (!flushing_) flush();
}

// One flush serves every commit that waits when it begins.
void Storage::flush() {
  flushing_ = !next_flush_.empty();
  if (!flushing_) return;
  committing_.swap(next_flush_);
  engine_.events().push(engine_.now_ns() + whole_ns(engine_.machine().flush_us * 1e3),
                        event_of(EventIs::kFlushed, 0));
}

void Storage::flushed() {
  committed_.swap(committing_);
  committing_.clear();
  flush();
  for (const std::uint32_t number : committed_) engine_.wake(number);
  committed_.clear();
}

}  // namespace poolpilot::sim
