#include "load/report.hpp"

#include "system/clock.hpp"

namespace poolpilot::load {

Report report_of(const Tally& tally, const std::vector<std::string>& class_names) {
  Report report;
  report.time_s = static_cast<double>(now_ns()) * 1e-9;
  report.process_cpu_s = static_cast<double>(read_clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9;
  report.unexpected = tally.unexpected.get();
  report.backlog = tally.backlog.get();
  report.dropped = tally.dropped.get();
  report.unsent = tally.unsent.get();
  report.connections = tally.connections.get();
  tally.send_delay_us.add_to(report.send_delay_us);
  for (std::size_t i = 0; i < kFaultNames.size(); ++i) {
    if (const std::uint64_t count = tally.faults[i].get()) report.errors[kFaultNames[i]] = count;
  }
  for (std::size_t i = 0; i < class_names.size(); ++i) {
    const ClassTally& counted = tally.by_class[i];
    ClassReport& one = report.classes.emplace_back();
    one.name = class_names[i];
    counted.latency_us.add_to(one.latency_us);
    one.completed = counted.completed.get();
    one.failed = counted.failed.get();
    one.refused = counted.refused.get();
    one.undelivered = counted.undelivered.get();
    one.lost = counted.lost.get();
    one.sent = counted.sent.get();
  }
  return report;
}

}  // namespace poolpilot::load
