#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "samples/engine/streaming/backing.h"

namespace dmengine {
namespace {

TEST(BackingSpec, reads_bandwidth_and_latency) {
  const auto spec = parse_backing("throttle:2GB/s,20us");
  ASSERT_TRUE(spec);
  EXPECT_TRUE(spec->throttled);
  EXPECT_DOUBLE_EQ(spec->throttle.bytes_per_second, 2e9);
  EXPECT_EQ(spec->throttle.latency_ns, 20'000);
}

TEST(BackingSpec, knows_decimal_and_binary_units) {
  EXPECT_DOUBLE_EQ(parse_backing("throttle:1.5MiB/s,1ms")->throttle.bytes_per_second, 1.5 * 1048576);
  EXPECT_DOUBLE_EQ(parse_backing("throttle:3TB/s,10ns")->throttle.bytes_per_second, 3e12);
  EXPECT_DOUBLE_EQ(parse_backing("throttle:5000B/s,0s")->throttle.bytes_per_second, 5000);
  EXPECT_EQ(parse_backing("throttle:1GB/s,0.5ms")->throttle.latency_ns, 500'000);
}

TEST(BackingSpec, the_latency_may_be_left_out) { EXPECT_EQ(parse_backing("throttle:2GB/s")->throttle.latency_ns, 0); }

TEST(BackingSpec, file_is_not_throttled) { EXPECT_FALSE(parse_backing("file")->throttled); }

TEST(BackingSpec, refuses_what_it_does_not_understand_and_shows_an_example) {
  for (const char* text :
       {"", "disk", "throttle", "throttle:", "throttle:,20us", "throttle:2GB/s,", "throttle:2GB/s,20",
        "throttle:2,20us", "throttle:-2GB/s,20us", "throttle:nanGB/s,1us", "throttle:infGB/s,1us",
        "throttle:2GB/s,20us,3us", "throttle:2 GB/s,20us", "throttle:0GB/s,20us", "throttle:1B/s,20us",
        "throttle:1e300GB/s,20us", "throttle:2GB/s,11s", "throttle:2GB/s,-1us", "FILE"}) {
    const auto spec = parse_backing(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().kind, dmprof::ErrorKind::usage);
    EXPECT_THAT(spec.error().message, testing::HasSubstr("throttle:2GB/s,20us"));
  }
}

}  // namespace
}  // namespace dmengine
