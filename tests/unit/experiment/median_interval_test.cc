#include "dmprof/experiment/median_interval.h"

#include <gtest/gtest.h>

namespace dmprof::experiment {
namespace {

TEST(MedianInterval, seven_values_are_needed_for_98_percent_and_six_for_95) {
  EXPECT_EQ(values_for(0.98), 7u);
  EXPECT_EQ(values_for(0.95), 6u);
}

TEST(MedianInterval, of_seven_values_everything_is_the_interval) {
  const Estimate estimate = median_interval({7, 1, 2, 3, 6, 5, 4}, 0.98);
  EXPECT_EQ(estimate.low, 1);
  EXPECT_EQ(estimate.mid, 4);
  EXPECT_EQ(estimate.high, 7);
}

// P(at most 1 of 11 below the median) = 12/2048: both ends together 1.2 %; with two cut off it would be 6.5 %.
TEST(MedianInterval, of_eleven_values_one_is_cut_off_each_end) {
  const Estimate estimate = median_interval({11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.98);
  EXPECT_EQ(estimate.low, 2);
  EXPECT_EQ(estimate.high, 10);
}

// A single outlier moves neither the median nor, with eleven values, the interval.
TEST(MedianInterval, one_outlier_of_eleven_changes_nothing) {
  const Estimate estimate = median_interval({1000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.98);
  EXPECT_EQ(estimate.mid, 6);
  EXPECT_EQ(estimate.high, 10);
}

TEST(MedianInterval, an_even_number_has_its_middle_between_two_values) {
  EXPECT_EQ(median_interval({4, 1, 3, 2}, 0.5).mid, 2.5);
}

TEST(MedianInterval, of_one_value_is_that_value) {
  const Estimate estimate = median_interval({3}, 0.98);
  EXPECT_EQ(estimate.low, 3);
  EXPECT_EQ(estimate.mid, 3);
  EXPECT_EQ(estimate.high, 3);
}

}  // namespace
}  // namespace dmprof::experiment
