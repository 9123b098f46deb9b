#include "analyzers/registry/statistics.h"

#include <gtest/gtest.h>

namespace dmprof {
namespace {

TEST(Statistics, percentiles_lie_between_the_closest_ranks) {
  const std::vector<double> sorted = {10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(percentile(sorted, 0), 10);
  EXPECT_DOUBLE_EQ(percentile(sorted, .5), 25);
  EXPECT_DOUBLE_EQ(percentile(sorted, 1), 40);
  std::vector<double> one = {7};
  EXPECT_DOUBLE_EQ(spread_of(one).p99, 7);
}

TEST(Statistics, a_distribution_has_the_mean_as_value_and_its_percentiles_beside) {
  const MetricValue value = distribution({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(*value.value, 2.5);
  EXPECT_DOUBLE_EQ(value.spread->p50, 2.5);
  EXPECT_DOUBLE_EQ(value.spread->max, 4);
  EXPECT_EQ(value.samples, 4u);
  EXPECT_FALSE(distribution({}).ok());
}

TEST(Statistics, the_interval_of_a_ratio_of_counts_covers_it_and_narrows_with_samples) {
  RatioEstimate few, many;
  for (int i = 0; i < 100; ++i) few.add(i % 4 == 0 ? 1 : 0, 1);
  for (int i = 0; i < 10'000; ++i) many.add(i * 7919 % 4 == 0 ? 1 : 0, 1);
  ASSERT_TRUE(few.interval() && many.interval());
  EXPECT_DOUBLE_EQ(few.ratio(), .25);
  EXPECT_LT(few.interval()->low, .25);
  EXPECT_GT(few.interval()->high, .25);
  // the binomial half-width at n = 100 is 1.96 sqrt(.25 .75 / 100) = .085
  EXPECT_NEAR(few.interval()->high - few.interval()->low, .17, .05);
  EXPECT_LT(many.interval()->high - many.interval()->low, few.interval()->high - few.interval()->low);
}

TEST(Statistics, the_interval_is_the_same_every_time) {
  RatioEstimate a, b;
  for (int i = 0; i < 50; ++i) a.add(i % 3, 2), b.add(i % 3, 2);
  EXPECT_EQ(a.interval()->low, b.interval()->low);
  EXPECT_EQ(a.interval()->high, b.interval()->high);
}

TEST(Statistics, merging_groups_keeps_the_sums) {
  RatioEstimate estimate;
  for (int i = 0; i < 5'000; ++i) estimate.add(i, 1);
  EXPECT_DOUBLE_EQ(estimate.numerator(), 4999.0 * 5000 / 2);
  EXPECT_EQ(estimate.samples(), 5'000u);
  EXPECT_LT(estimate.interval()->low, estimate.ratio());
  EXPECT_GT(estimate.interval()->high, estimate.ratio());
}

TEST(Statistics, too_few_samples_have_no_interval) {
  RatioEstimate estimate;
  estimate.add(1, 2);
  EXPECT_FALSE(estimate.interval());
}

}  // namespace
}  // namespace dmprof
