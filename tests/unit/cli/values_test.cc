#include "dmprof/cli/values.h"

#include <gtest/gtest.h>

namespace dmprof::cli {
namespace {

TEST(Values, reads_durations_with_their_unit) {
  EXPECT_EQ(parse_duration("200ms").value(), 200'000'000);
  EXPECT_EQ(parse_duration("1.5s").value(), 1'500'000'000);
  EXPECT_EQ(parse_duration("800 us").value(), 800'000);
  EXPECT_EQ(parse_duration("20ns").value(), 20);
}

TEST(Values, refuses_durations_without_unit_or_sense) {
  for (const char* text : {"", "200", "ms", "-5ms", "0s", "nan s", "inf s", "1e300s", "5 minutes", "5ms!"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
  }
}

TEST(Values, reads_objectives) {
  const auto objectives = parse_objectives("ttft=200ms, itl=50ms");
  ASSERT_TRUE(objectives) << objectives.error().message;
  EXPECT_EQ(objectives->ttft, 200'000'000);
  EXPECT_EQ(objectives->itl, 50'000'000);
  EXPECT_FALSE(objectives->tpot);
}

TEST(Values, refuses_objectives_twice_unknown_or_empty) {
  for (const char* text : {"", "ttft", "ttft=", "ttft=1s,ttft=2s", "ttfb=1s", "ttft=1s,"})
    EXPECT_FALSE(parse_objectives(text)) << text;
}

TEST(Values, splits_names_at_commas_and_refuses_empty_ones) {
  EXPECT_EQ(split_names({"a, b", "c"}).value(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(split_names({"a,,b"}));
  EXPECT_FALSE(split_names({""}));
}

TEST(Values, names_the_nearest_breakdown) {
  EXPECT_EQ(parse_breakdown("layer").value(), By::layer);
  EXPECT_FALSE(parse_breakdown("").value().has_value());
  const auto parsed = parse_breakdown("requst");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("did you mean request?"), std::string::npos);
}

}  // namespace
}  // namespace dmprof::cli
