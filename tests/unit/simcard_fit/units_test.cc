#include "samples/simcard/fit/units.h"

#include <gtest/gtest.h>

namespace dmprof::twin {
namespace {

TEST(Units, AreReadAsWritten) {
  const auto link = parse_throttle("throttle:1GB/s,300us");
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->latency, 300'000);
  EXPECT_EQ(parse_throttle("throttle:1GB/s")->latency, 0);
}

TEST(Units, WrongOnesAreRefused) {
  for (const char* text : {"", "file", "throttle:", "throttle:1GB", "throttle:1GB/s,", "throttle:1GB/s,1us,1us",
                           "throttle:999B/s", "throttle:1e30TB/s", "throttle:1GB/s,11s", "throttle:1GB/s,-1us"}) {
    EXPECT_FALSE(parse_throttle(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace dmprof::twin
