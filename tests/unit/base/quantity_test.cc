#include "dmprof/base/quantity.h"

#include <gmock/gmock.h>

namespace dmprof {
namespace {

using testing::HasSubstr;

double value(std::string_view text, Quantity quantity) {
  const Result<double> read = parse_quantity(text, quantity);
  EXPECT_TRUE(read) << text << ": " << (read ? "" : read.error().message);
  return read.value_or(-1);
}

std::string complaint(std::string_view text, Quantity quantity) {
  const Result<double> read = parse_quantity(text, quantity);
  EXPECT_FALSE(read) << text;
  return read ? "" : read.error().message;
}

TEST(Quantity, UnitsOfEveryKindAreRead) {
  EXPECT_DOUBLE_EQ(value("3TB/s", Quantity::bandwidth), 3e12);
  EXPECT_DOUBLE_EQ(value("400Gb/s", Quantity::bandwidth), 50e9);
  EXPECT_DOUBLE_EQ(value("128 GiB", Quantity::size), 128.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value("8MB", Quantity::size), 8e6);
  EXPECT_DOUBLE_EQ(value("10ns", Quantity::duration), 10e-9);
  EXPECT_DOUBLE_EQ(value("0.5pJ/bit", Quantity::energy_per_bit), 0.5e-12);
  EXPECT_DOUBLE_EQ(value("989.5TFLOP/s", Quantity::compute), 989.5e12);
  EXPECT_DOUBLE_EQ(value("25%", Quantity::ratio), 0.25);
  EXPECT_DOUBLE_EQ(value("1.5kW", Quantity::power), 1500);
  EXPECT_DOUBLE_EQ(value("2.5/s", Quantity::rate), 2.5);
  EXPECT_DOUBLE_EQ(value("1e3", Quantity::number), 1000);
}

TEST(Quantity, ZeroNeedsNoUnit) { EXPECT_DOUBLE_EQ(value("0", Quantity::duration), 0); }

TEST(Quantity, SizeWhereABandwidthBelongsSaysBoth) {
  EXPECT_THAT(complaint("3TB", Quantity::bandwidth),
              HasSubstr("\"3TB\" is a size, not a bandwidth; write a bandwidth such as \"3TB/s\""));
}

TEST(Quantity, BadValuesAreRefused) {
  for (const char* text : {"", "GB", "-1GB", "1e400GB", "nan", "inf", "3 XB", "3", "1e31B", "1GB/s", "0x10B", "3GBGB"})
    EXPECT_FALSE(parse_quantity(text, Quantity::size)) << text;
  EXPECT_THAT(complaint("1.2", Quantity::ratio), HasSubstr("above 1"));
  EXPECT_THAT(complaint("5", Quantity::duration), HasSubstr("no unit"));
}

TEST(Quantity, HostileTextIsShownShortAndClean) {
  const std::string message = complaint(std::string(100000, '\n') + "\x1b[31m", Quantity::size);
  EXPECT_LT(message.size(), 200u);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Flags, WholeNumbersAndRealOnesAreReadWithinTheirRange) {
  EXPECT_EQ(*parse_whole("--n", "0", 0, 5), 0u);
  EXPECT_EQ(*parse_whole("--n", "18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  for (const char* text : {"", "-1", "6", "1.0", "1e2", " 1", "1 ", "0x1", "18446744073709551616"})
    EXPECT_FALSE(parse_whole("--n", text, 0, 5)) << text;
  EXPECT_DOUBLE_EQ(*parse_real("--t", "0.5", 0, 1), 0.5);
  for (const char* text : {"", "nan", "inf", "2", "-0.1", "0.5x"}) EXPECT_FALSE(parse_real("--t", text, 0, 1)) << text;
  const Result<std::uint64_t> wrong = parse_whole("--n", "seven", 0, 5);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_EQ(wrong.error().message, "--n must be a whole number from 0 to 5, not \"seven\"");
}

TEST(PlainNumber, IsReadWholeAndAlikeInEveryLocale) {
  EXPECT_EQ(plain_number("8"), 8);
  EXPECT_EQ(plain_number("-0.25"), -0.25);
  EXPECT_EQ(plain_number("1e12"), 1e12);
  for (const char* text : {"", " 1", "1 ", "1,5", "0x10", "inf", "-inf", "nan", "nan(1)", "1e400", "8MiB", "+1", "one"})
    EXPECT_FALSE(plain_number(text)) << text;
}

TEST(Flags, SizesAreReadInBothFamiliesOfUnits) {
  EXPECT_EQ(*parse_size("x", "8MiB"), 8388608u);
  EXPECT_EQ(*parse_size("x", "1.5kB"), 1500u);
  EXPECT_EQ(*parse_size("x", "4096"), 4096u);
  EXPECT_EQ(*parse_size("x", "0"), 0u);
  EXPECT_EQ(*parse_size("x", "2GB"), 2000000000u);
  for (const char* text : {"", "MiB", "-1MiB", "8Mi", "8 MiB", " 8MiB", "1e30GiB", "nan", "inf", "1MB/s", "1mb", ".",
                           "99999999999999999999GiB"})
    EXPECT_FALSE(parse_size("x", text)) << text;
}

}  // namespace
}  // namespace dmprof
