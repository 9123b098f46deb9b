#include "dmprof/workload/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dmprof::workload {
namespace {

TEST(Random, SameSeedAndNameGiveTheSameStreamOthersDoNot) {
  Random a(1, "arrivals"), b(1, "arrivals"), other_name(1, "lengths"), other_seed(2, "arrivals"),
      other(1, "arrivals", 1);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, other_name.next());
  EXPECT_NE(first, other_seed.next());
  EXPECT_NE(first, other.next());
}

TEST(Random, NumbersAreTheSameOnEveryMachine) {
  Random random(42);
  EXPECT_EQ(random.next(), 1546998764402558742ULL);
  EXPECT_EQ(random.next(), 6990951692964543102ULL);
}

TEST(Random, MomentsOfTheDistributions) {
  Random random(3, "moments");
  double uniform = 0, exponential = 0, normal = 0, square = 0;
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    exponential += random.exponential(5);
    const double z = random.normal();
    normal += z;
    square += z * z;
  }
  EXPECT_NEAR(uniform / n, 0.5, 0.005);
  EXPECT_NEAR(exponential / n, 5, 0.05);
  EXPECT_NEAR(normal / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.02);
}

TEST(Random, BelowIsInRangeAndEven) {
  Random random(4, "below");
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(random.below(0), 0u);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Discrete, DrawsInProportionAndNeverAnImpossibleIndex) {
  Random random(5, "discrete");
  const Discrete discrete({1, 0, 3, 4});
  std::vector<int> counts(4);
  for (int i = 0; i < 80000; ++i) ++counts.at(discrete.draw(random));
  EXPECT_NEAR(counts[0], 10000, 500);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 30000, 700);
  EXPECT_NEAR(counts[3], 40000, 700);
  EXPECT_DOUBLE_EQ(discrete.probability(2), 0.375);
}

TEST(Discrete, SkewedWeightsFallWithRank) {
  const std::vector<double> weights = zipf_weights(4, 1.0);
  EXPECT_NEAR(weights[1], 0.5, 1e-14);
  EXPECT_NEAR(weights[3], 0.25, 1e-14);
}

}  // namespace
}  // namespace dmprof::workload
