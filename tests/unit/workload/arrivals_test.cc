#include "dmprof/workload/arrivals.h"

#include <cmath>

#include <gmock/gmock.h>

#include "dmprof/workload/portable_math.h"

namespace dmprof::workload {
namespace {

constexpr double ns = 1e-9;

std::vector<double> gaps(const Arrivals& arrivals, int count, std::uint64_t seed = 1) {
  Source source(arrivals, Lengths{}, Lengths{}, seed);
  std::vector<double> all;
  std::int64_t last = 0;
  for (int i = 0; i < count; ++i) {
    const std::int64_t now = source.next()->arrival_ns;
    EXPECT_GE(now, last);
    all.push_back(static_cast<double>(now - last) * ns);
    last = now;
  }
  return all;
}

double mean(const std::vector<double>& all) {
  double sum = 0;
  for (const double x : all) sum += x;
  return sum / static_cast<double>(all.size());
}

double variation(const std::vector<double>& all) {
  const double m = mean(all);
  double sum = 0;
  for (const double x : all) sum += (x - m) * (x - m);
  return std::sqrt(sum / static_cast<double>(all.size())) / m;
}

TEST(PortableMath, AgreesWithLibm) {
  for (double x = -700; x < 700; x += 0.37) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-12) << x;
  for (double x = 1e-300; x < 1e300; x *= 7.3)
    EXPECT_NEAR(portable_log(x), std::log(x), 1e-12 * std::abs(std::log(x)) + 1e-14) << x;
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(-1000), 0);
}

TEST(Random, NumbersAreTheSameOnEveryMachine) {
  Random random(42);
  EXPECT_EQ(random.next(), 1546998764402558742ULL);
  EXPECT_EQ(random.next(), 6990951692964543102ULL);
}

TEST(Arrivals, PoissonHasItsRateAndVariationOne) {
  Arrivals arrivals;
  arrivals.rate = 20;
  const auto all = gaps(arrivals, 100000);
  EXPECT_NEAR(mean(all), 0.05, 0.001);
  EXPECT_NEAR(variation(all), 1, 0.02);
}

TEST(Arrivals, BurstsKeepTheMeanRateAndVaryMore) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::bursty;
  arrivals.rate = 20;
  arrivals.burst_factor = 8;
  arrivals.burst_share = 0.1;
  ASSERT_TRUE(arrivals.check());
  const auto all = gaps(arrivals, 200000);
  EXPECT_NEAR(mean(all), 0.05, 0.003);
  EXPECT_GT(variation(all), 1.5);
}

TEST(Arrivals, AllRequestsInBurstsIsPossible) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::bursty;
  arrivals.burst_factor = 10;
  arrivals.burst_share = 0.1;
  ASSERT_TRUE(arrivals.check());
  EXPECT_NEAR(mean(gaps(arrivals, 100000)), 1, 0.1);
}

TEST(Arrivals, ClosedLoopSendsTheNextAfterACompletion) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::closed_loop;
  arrivals.users = 3;
  arrivals.think_s = 0;
  Source source(arrivals, Lengths{}, Lengths{}, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(source.next()->arrival_ns, 0);
  EXPECT_FALSE(source.next());
  EXPECT_EQ(source.after_completion(1234)->arrival_ns, 1234);
}

TEST(Arrivals, OpenLoopDoesNotWaitForCompletions) {
  Source source(Arrivals{}, Lengths{}, Lengths{}, 1);
  EXPECT_FALSE(source.after_completion(5));
}

TEST(Arrivals, SameSeedSameRequestsOtherSeedOthers) {
  EXPECT_EQ(gaps(Arrivals{}, 100, 7), gaps(Arrivals{}, 100, 7));
  EXPECT_NE(gaps(Arrivals{}, 100, 7), gaps(Arrivals{}, 100, 8));
}

TEST(Arrivals, ImpossibleOnesAreRefused) {
  Arrivals arrivals;
  arrivals.rate = 0;
  EXPECT_FALSE(arrivals.check());
  arrivals.rate = std::nan("");
  EXPECT_FALSE(arrivals.check());
  arrivals = {};
  arrivals.kind = Arrivals::Kind::bursty;
  arrivals.burst_factor = 20;
  EXPECT_THAT(arrivals.check().error().message, testing::HasSubstr("at most 1"));
  arrivals = {};
  arrivals.kind = Arrivals::Kind::closed_loop;
  arrivals.users = 0;
  EXPECT_FALSE(arrivals.check());
}

TEST(Arrivals, ATinyRateDoesNotOverflowTheClock) {
  Arrivals arrivals;
  arrivals.rate = 1e-12;
  Source source(arrivals, Lengths{}, Lengths{}, 1);
  for (int i = 0; i < 10; ++i) EXPECT_GE(source.next()->arrival_ns, 0);
}

}  // namespace
}  // namespace dmprof::workload
