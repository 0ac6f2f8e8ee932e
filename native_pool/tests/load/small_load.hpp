// A small load for tests: its settings, a run of it, and what its report adds up to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>

#include "load/generator.hpp"
#include "tests/load/test_server.hpp"

namespace poolpilot::load {

inline Settings one_class(const TestServer& server, std::size_t connections) {
  Settings settings;
  settings.address = server.address();
  settings.connections = connections;
  settings.ramp_s = 0.01;
  settings.classes = {{"only", {{.op = Op::kCpu, .us = 10}}}};
  return settings;
}

// Runs until the server has seen `requests`, then stops and drains.
inline Report run_until(TestServer& server, const Settings& settings, std::size_t requests) {
  LoadGenerator generator(settings);
  std::thread loop([&] { generator.run(); });
  server.await(requests);
  generator.request_stop();
  loop.join();
  return generator.report();
}

// Observations in the bucket of `least` or a later one.
inline std::int64_t observations(const HistogramCounts& histogram, std::uint64_t least = 0) {
  std::int64_t sum = 0;
  for (std::size_t i = bucket_of(least); i < histogram.counts.size(); ++i) {
    sum += histogram.counts[i];
  }
  return sum;
}

}  // namespace poolpilot::load
