#include "dmprof/report/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace dmprof::report {
namespace {

TEST(Format, scales_units_and_keeps_three_digits) {
  EXPECT_EQ(quantity(1'234'567, "ns"), "1.23 ms");
  EXPECT_EQ(quantity(999.9e3, "ns"), "1.00 ms");
  EXPECT_EQ(quantity(12.34e9, "B/s"), "12.3 GB/s");
  EXPECT_EQ(quantity(0.847, "ratio"), "84.7 %");
  EXPECT_EQ(quantity(3.214, "x"), "3.21 x");
  EXPECT_EQ(quantity(1'234'567, "events"), "1,234,567 events");
  EXPECT_EQ(quantity(0, "events"), "0 events");
  EXPECT_EQ(quantity(7452374.4, "tokens/s"), "7,452,374 tokens/s");
}

TEST(Format, never_prints_a_number_that_is_none) {
  EXPECT_EQ(quantity(std::numeric_limits<double>::quiet_NaN(), "ratio"), "not a number");
  EXPECT_EQ(quantity(std::numeric_limits<double>::infinity(), "ns"), "not a number");
}

TEST(Format, groups_thousands) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(18446744073709551615ull), "18,446,744,073,709,551,615");
}

TEST(Format, makes_hostile_text_safe_for_a_terminal) {
  EXPECT_EQ(printable("a\033[31mb"), "a?[31mb");
  EXPECT_EQ(printable("bad\xff utf\xc0\x80"), "bad? utf??");
  EXPECT_EQ(printable("投机解码"), "投机解码");
  EXPECT_EQ(printable("half \xe6\x8a"), "half ??");
}

TEST(Format, pads_by_columns_not_by_bytes) {
  EXPECT_EQ(display_width("投机"), 4u);
  EXPECT_EQ(padded("投机", 6), "投机  ");
  EXPECT_EQ(padded("7", 3, true), "  7");
  EXPECT_EQ(padded("longer", 3), "longer");
}

}  // namespace
}  // namespace dmprof::report
