// What the load generator knows of its own lateness.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "load/generator.hpp"
#include "system/clock.hpp"
#include "tests/live/held_thread.hpp"
#include "tests/load/small_load.hpp"

namespace poolpilot::load {
namespace {

TEST(LoadLateness, EveryRequestWithATimeOfItsOwnHasItsDelay) {
  TestServer server(echo);
  Settings settings = one_class(server, 4);
  settings.rate_per_s = 4000.0;
  const Report open = run_until(server, settings, 500);
  EXPECT_EQ(observations(open.send_delay_us),
            static_cast<std::int64_t>(open.classes.at(0).sent + open.unsent + open.dropped));
  settings.rate_per_s.reset();
  settings.classes[0].think_ms = 1.0;
  const Report thinking = run_until(server, settings, 1000);
  EXPECT_EQ(observations(thinking.send_delay_us),
            static_cast<std::int64_t>(thinking.classes.at(0).sent));
  settings.classes[0].think_ms = 0.0;
  settings.ramp_s = 0.0;
  const Report at_once = run_until(server, settings, 1500);
  EXPECT_EQ(observations(at_once.send_delay_us), 4);  // the first of each connection
}

TEST(LoadLateness, ALoopThatWasHeldUpSaysHowLongAndWhatItHadOfAProcessor) {
  TestServer server(echo);
  Settings settings = one_class(server, 4);
  settings.rate_per_s = 4000.0;
  LoadGenerator generator(settings);
  std::thread loop([&] { generator.run(); });
  server.await(50);
  std::int64_t held_ns = -now_ns();
  {
    const HeldThread held(loop.native_handle());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  held_ns += now_ns();
  server.await(200);
  generator.request_stop();
  loop.join();
  const Report report = generator.report();
  const auto limit_us = whole_us(100'000'000);
  EXPECT_GT(observations(report.send_delay_us, limit_us), 100);  // of some 400 due in that half
  EXPECT_GE(report.loop.wall_s, static_cast<double>(held_ns) / 1e9);
  EXPECT_GT(report.loop.cpu_s, 0.0);
  EXPECT_LE(report.loop.cpu_s + report.loop.waited_s, report.loop.wall_s * 1.05);
}

TEST(LoadLateness, ALoopWithNothingToDoRests) {
  TestServer server(echo);
  Settings settings = one_class(server, 1);
  settings.rate_per_s = 100.0;
  const Report report = run_until(server, settings, 30);
  EXPECT_LT(report.loop.cpu_s, 0.5 * report.loop.wall_s);
}

}  // namespace
}  // namespace poolpilot::load
