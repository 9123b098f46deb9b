#include "dmprof/export/lanes.h"

#include <gtest/gtest.h>

#include "dmprof/export/spans.h"
#include "dmprof/export/utf8.h"

namespace dmprof::exporting {
namespace {

TEST(Lanes, nested_and_disjoint_spans_share_a_lane) {
  Lanes lanes;
  EXPECT_EQ(lanes.place(0, 100), 0u);
  EXPECT_EQ(lanes.place(0, 50), 0u);
  EXPECT_EQ(lanes.place(50, 100), 0u);
  EXPECT_EQ(lanes.place(100, 100), 0u);
  EXPECT_EQ(lanes.place(100, 200), 0u);
  EXPECT_EQ(lanes.count(), 1u);
}

TEST(Lanes, spans_that_overlap_without_nesting_are_spread) {
  Lanes lanes;
  EXPECT_EQ(lanes.place(0, 100), 0u);
  EXPECT_EQ(lanes.place(50, 150), 1u);
  EXPECT_EQ(lanes.place(60, 160), 2u);
  EXPECT_EQ(lanes.place(100, 110), 0u);
}

TEST(Lanes, a_span_that_is_placed_alone_shares_its_lane_with_nothing_while_it_lasts) {
  Lanes lanes;
  EXPECT_EQ(lanes.place_alone(0, 100), 0u);
  EXPECT_EQ(lanes.place_alone(10, 20), 1u);
  EXPECT_EQ(lanes.place_alone(20, 30), 1u);
  EXPECT_EQ(lanes.place_alone(100, 110), 0u);
}

TEST(Lanes, more_overlaps_than_a_viewer_can_show_are_reported) {
  Lanes lanes;
  bool full = false;
  for (TimeNs i = 0; i < 1000 && !full; ++i) full = !lanes.place(i, 10'000 + i);
  EXPECT_TRUE(full);
}

TEST(Requests, become_spans_with_their_known_parts) {
  const auto event = [](TimeNs time, RequestPoint point, std::uint64_t tokens) {
    RequestEvent result;
    result.time = time;
    result.request = 7;
    result.point = point;
    result.tokens = tokens;
    return result;
  };
  const auto spans = request_spans({event(10, RequestPoint::arrive, 12), event(20, RequestPoint::schedule, 0),
                                    event(30, RequestPoint::first_token, 0), event(90, RequestPoint::end, 40)});
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].name, "request 7");
  EXPECT_EQ(spans[0].start, 10);
  EXPECT_EQ(spans[0].end, 90);
  ASSERT_EQ(spans[0].parts.size(), 3u);
  EXPECT_EQ(spans[0].parts[2].name, "decode");
}

TEST(Utf8, replaces_what_is_invalid_and_keeps_the_rest) {
  EXPECT_EQ(valid_utf8("投机 ok"), "投机 ok");
  EXPECT_EQ(valid_utf8("a\xffz"), "a\xef\xbf\xbdz");
  EXPECT_EQ(valid_utf8("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
}

}  // namespace
}  // namespace dmprof::exporting
