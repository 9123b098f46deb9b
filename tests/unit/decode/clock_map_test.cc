#include "dmprof/decode/clock_map.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace dmprof::decode {
namespace {

TEST(ClockMap, leaves_nanoseconds_alone_without_a_counter) {
  const ClockMap map;
  EXPECT_EQ(map.time(1234567), 1234567);
  EXPECT_EQ(map.length(99), 99);
}

TEST(ClockMap, follows_a_counter_whose_first_rate_was_wrong) {
  // True clock: .4 ns a tick from 5 s; the first estimate is 50 ppm too fast.
  const auto truth = [](std::uint64_t raw) {
    return static_cast<TimeNs>(5'000'000'000 + static_cast<TimeNs>(raw) * 2 / 5);
  };
  ClockMap map(0, truth(0), .4 * (1 + 50e-6));
  std::uint64_t raw = 0;
  for (TimeNs interval = 2'000'000; interval < 2'000'000'000; interval *= 2) {
    raw += static_cast<std::uint64_t>(interval) * 5 / 2;
    map.sync(raw, truth(raw), interval);
  }
  const std::uint64_t later = raw + 2'500'000'000;
  EXPECT_LT(std::abs(map.time(later) - truth(later)), 200);
}

TEST(ClockMap, never_runs_backwards_when_a_sync_corrects_it) {
  ClockMap map(1'000'000, 1'000'000, 1.0);
  map.sync(2'000'000, 1'900'000, 1'000'000);  // we were 100 us ahead
  map.sync(3'000'000, 2'900'000, 1'000'000);
  TimeNs previous = map.time(0);
  for (std::uint64_t raw = 1000; raw < 6'000'000; raw += 1000) {
    const TimeNs now = map.time(raw);
    ASSERT_GE(now, previous) << raw;
    previous = now;
  }
}

TEST(ClockMap, keeps_old_readings_where_they_were_after_a_sync) {
  ClockMap map(1'000'000, 1'000'000, 1.0);
  const TimeNs before = map.time(1'500'000);
  map.sync(2'000'000, 2'000'500, 1'000'000);
  EXPECT_EQ(map.time(1'500'000), before);
}

TEST(ClockMap, survives_absurd_readings) {
  const ClockMap tsc(1'000'000, 1'000'000, .4), identity;
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_GT(tsc.time(huge), 0);
  EXPECT_GT(tsc.length(huge), 0);
  EXPECT_GT(identity.time(huge), 0);
  EXPECT_GT(identity.length(huge), 0);
}

TEST(ClockMap, ignores_a_sync_that_lies_in_the_past) {
  ClockMap map(1'000'000, 1'000'000, 1.0);
  map.sync(500'000, 9'000'000, 1'000'000);
  EXPECT_EQ(map.time(2'000'000), 2'000'000);
}

}  // namespace
}  // namespace dmprof::decode
