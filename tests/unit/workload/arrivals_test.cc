#include "dmprof/workload/arrivals.h"

#include <cmath>

#include <gmock/gmock.h>

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

// Were the first state always the calm one, the first request of most runs would come late.
TEST(Arrivals, AMomentOfARunFallsIntoABurstAsOftenAsTheShareSays) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::bursty;
  arrivals.rate = 1;
  arrivals.burst_factor = 4;
  arrivals.burst_share = 0.25;  // everything comes in bursts
  arrivals.burst_s = 1000;      // a burst outlasts the first request by far
  ASSERT_TRUE(arrivals.check());
  int at_once = 0;
  constexpr int runs = 4000;
  for (int seed = 1; seed <= runs; ++seed) {
    Source source(arrivals, {}, {}, static_cast<std::uint64_t>(seed));
    at_once += source.next()->arrival_ns < 5'000'000'000 ? 1 : 0;  // twenty mean gaps of a burst
  }
  EXPECT_NEAR(static_cast<double>(at_once) / runs, 0.25, 0.03);
}

TEST(Arrivals, BurstsByTheClockComeAtOnceAndOneAloneHalfAPeriodLater) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::bursts;
  arrivals.burst = 2;
  arrivals.period_s = 0.06;
  ASSERT_TRUE(arrivals.check());
  Source source(arrivals, {}, {}, 1);
  for (const std::int64_t ms : {0, 0, 30, 60, 60, 90, 120}) EXPECT_EQ(source.next()->arrival_ns, ms * 1'000'000);
  for (const auto& [burst, period] : std::vector<std::pair<std::int64_t, double>>{{0, 1}, {1, 0}, {1, -1}, {1, NAN}}) {
    arrivals.burst = burst, arrivals.period_s = period;
    EXPECT_FALSE(arrivals.check()) << burst << " " << period;
  }
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
