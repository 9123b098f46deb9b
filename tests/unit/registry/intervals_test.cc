#include "analyzers/registry/intervals.h"

#include <gtest/gtest.h>

namespace dmprof {
namespace {

std::vector<std::pair<TimeNs, TimeNs>> pairs(const Intervals& a) {
  std::vector<std::pair<TimeNs, TimeNs>> result;
  for (const TimeRange& range : a) result.emplace_back(range.begin, range.end);
  return result;
}
using Pairs = std::vector<std::pair<TimeNs, TimeNs>>;

TEST(Intervals, unites_overlapping_touching_and_unordered_ranges_and_drops_empty_ones) {
  EXPECT_EQ(pairs(unite({{20, 30}, {0, 5}, {5, 10}, {25, 40}, {50, 50}, {60, 55}})), (Pairs{{0, 10}, {20, 40}}));
}

TEST(Intervals, subtracts_what_lies_inside_across_and_outside) {
  EXPECT_EQ(pairs(subtract({{0, 10}, {20, 30}}, {{2, 4}, {6, 22}, {29, 99}})), (Pairs{{0, 2}, {4, 6}, {22, 29}}));
  EXPECT_EQ(pairs(subtract({{0, 10}}, {{0, 10}})), Pairs{});
  EXPECT_EQ(pairs(subtract({{0, 10}}, {})), (Pairs{{0, 10}}));
}

TEST(Intervals, intersects) {
  EXPECT_EQ(pairs(intersect({{0, 10}, {20, 30}}, {{5, 25}})), (Pairs{{5, 10}, {20, 25}}));
  EXPECT_EQ(pairs(clip({{0, 10}}, {8, 3})), Pairs{});
}

TEST(Intervals, measures_total_overlap_and_membership) {
  const Intervals a = {{0, 10}, {20, 30}};
  EXPECT_EQ(total(a), 20);
  EXPECT_EQ(overlap(a, {5, 25}), 10);
  EXPECT_EQ(overlap(a, {10, 20}), 0);
  EXPECT_TRUE(contains(a, 0));
  EXPECT_FALSE(contains(a, 10));
  EXPECT_TRUE(contains(a, 29));
}

}  // namespace
}  // namespace dmprof
