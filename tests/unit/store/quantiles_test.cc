#include "dmprof/store/quantiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace dmprof {
namespace {

TEST(Quantiles, are_those_of_the_sorted_values) {
  std::mt19937_64 random(11);
  for (const unsigned magnitude : {4U, 12U, 20U, 40U, 62U}) {
    std::vector<TimeNs> values;
    for (int i = 0; i < 3001; ++i)
      values.push_back(static_cast<TimeNs>(random() >> (64 - magnitude) >> (random() % 3)));
    Quantiles quantiles;
    quantiles.add(std::span(values).first(1000));
    quantiles.add(std::span(values).subspan(1000));
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto rank = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(std::ceil(q * 3001)) - 1, 0);
      EXPECT_EQ(quantiles.at(q), values[static_cast<std::size_t>(rank)]) << magnitude << " " << q;
    }
    EXPECT_EQ(quantiles.max(), values.back());
  }
}

TEST(Quantiles, of_nothing_are_absent) {
  const Quantiles quantiles;
  EXPECT_EQ(quantiles.at(0.5), std::nullopt);
  EXPECT_EQ(quantiles.count(), 0U);
}

TEST(Quantiles, of_one_value_are_that_value_for_any_argument) {
  Quantiles quantiles;
  quantiles.add(7'000'000'000);
  for (const double q : {-1.0, 0.0, 0.5, 1.0, 7.0, std::nan("")}) EXPECT_EQ(quantiles.at(q), 7'000'000'000);
  EXPECT_DOUBLE_EQ(quantiles.mean(), 7e9);
}

TEST(Quantiles, reach_the_largest_time_there_is) {
  Quantiles quantiles;
  const TimeNs values[] = {INT64_MAX, -5, INT64_MAX - 1};
  quantiles.add(values);
  EXPECT_EQ(quantiles.at(1.0), INT64_MAX);
  EXPECT_EQ(quantiles.at(0.5), INT64_MAX - 1);
  EXPECT_EQ(quantiles.at(0.0), 0);
}

}  // namespace
}  // namespace dmprof
