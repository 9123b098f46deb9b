// The streaming model against cases that can be worked out by hand: blocks of 1,000 bytes over a link of 1 GB/s (1,000
// ns a block) and 100 ns latency, threads that take no time.
#include "samples/simcard/twin/stream_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dmprof/cachemodel/replay.h"

namespace dmprof::twin {
namespace {

struct Bench {
  Link link{true, 1e9, 100, 0, 1e15, {}};
  Habits habits;
  Settings settings;
  simcard::Random random{1, "test"};
  Trace trace;

  Bench() {
    settings.resident = 8'000;
    settings.cache_policy = 0;
    settings.prefetch_distance = 0;
  }

  // Rounds over blocks 0 .. count-1, each followed by `compute`; returns the time at the end.
  Time scan(std::size_t count, int rounds, Time compute, std::vector<Time>* ends = nullptr) {
    StreamModel stream(std::vector<Block>(count, {1'000, 1'000}), link, habits, settings, random, trace);
    Time now = 0;
    for (int round = 0; round < rounds; ++round) {
      for (BlockId block = 0; block < count; ++block) {
        now = stream.acquire(block, now, 1, false) + compute;
        stream.release(block);
      }
      if (ends != nullptr) ends->push_back(now);
    }
    return now;
  }
  std::size_t count(Outcome outcome, std::size_t from = 0) const {
    return static_cast<std::size_t>(std::count_if(trace.accesses.begin() + static_cast<std::ptrdiff_t>(from),
                                                  trace.accesses.end(),
                                                  [&](const AccessRecord& a) { return a.outcome == outcome; }));
  }
};

TEST(StreamModel, ColdMissesTakeLatencyAndTransferEach) {
  Bench bench;
  EXPECT_EQ(bench.scan(5, 1, 0), 5 * 1'100);
  EXPECT_EQ(bench.count(Outcome::miss), 5U);
  for (const AccessRecord& access : bench.trace.accesses) EXPECT_EQ(access.wait, 1'100);
}

TEST(StreamModel, WhatFitsIsFetchedOnce) {
  Bench bench;
  EXPECT_EQ(bench.scan(8, 10, 0), 8 * 1'100);
  EXPECT_EQ(bench.count(Outcome::hit), 72U);
  EXPECT_EQ(bench.trace.transfers.size(), 8U);
}

TEST(StreamModel, ACyclicScanLargerThanTheCacheNeverHitsUnderLru) {
  Bench bench;
  EXPECT_EQ(bench.scan(9, 10, 0), 90 * 1'100);
  EXPECT_EQ(bench.count(Outcome::hit), 0U);
}

TEST(StreamModel, WithoutPrefetchItHitsAsOftenAsTheReplayOfThePolicy) {
  for (const std::uint32_t policy : {0U, 1U}) {
    Bench bench;
    bench.settings.cache_policy = policy;
    StreamModel stream(std::vector<Block>(40, {1'000, 1'000}), bench.link, bench.habits, bench.settings, bench.random,
                       bench.trace);
    std::vector<cachemodel::TraceAccess> trace;
    simcard::Random random(3, "test");
    Time now = 0;
    for (int i = 0; i < 4'000; ++i) {
      const BlockId block = std::min(random.next() % 40, random.next() % 40);  // low ids are popular
      trace.push_back({block, 1'000});
      now = stream.acquire(block, now, 1, false);
      stream.release(block);
    }
    const auto expected = cachemodel::replay(trace, *cachemodel::policy_from(policy), 8'000);
    EXPECT_GT(expected.hits, 0U);
    EXPECT_EQ(bench.count(Outcome::hit), expected.hits) << "policy " << policy;
  }
}

TEST(StreamModel, ThePredictingPolicyKeepsAPartOfACyclicScanAndNoMoreThanTheOptimum) {
  Bench bench;
  bench.settings.cache_policy = 2;
  bench.scan(16, 50, 0);
  const double hits = static_cast<double>(bench.count(Outcome::hit, 160)) / (16 * 40);
  EXPECT_GT(hits, 0.3);
  EXPECT_LE(hits, 7.0 / 15);
}

TEST(StreamModel, PrefetchBehindEnoughComputationHidesEveryTransfer) {
  Bench bench;
  bench.settings.prefetch_distance = 4;
  bench.settings.resident = 12'000;
  std::vector<Time> ends;
  bench.scan(20, 6, 5'000, &ends);
  EXPECT_EQ(ends[5] - ends[4], 20 * 5'000);  // nothing but computation once the order is learned
  EXPECT_EQ(bench.count(Outcome::hit, 80), 40U);
  for (std::size_t i = 80; i < 120; ++i) EXPECT_EQ(bench.trace.accesses[i].origin, Origin::prefetched);
}

TEST(StreamModel, PrefetchWithoutComputationKeepsTheOneLinkBusyAndHidesItsLatency) {
  Bench bench;
  bench.settings.prefetch_distance = 8;
  bench.settings.resident = 12'000;
  std::vector<Time> ends;
  bench.scan(20, 6, 0, &ends);
  EXPECT_EQ(ends[0], 20 * 1'100);
  EXPECT_EQ(ends[5] - ends[4], 20 * 1'000);
}

TEST(StreamModel, AnEarlyConsumerWaitsForTheRestOfAPrefetch) {
  Bench bench;
  bench.settings.prefetch_distance = 1;
  bench.settings.resident = 12'000;
  bench.scan(20, 6, 700);
  const AccessRecord& last = bench.trace.accesses.back();
  EXPECT_EQ(last.outcome, Outcome::late);
  EXPECT_EQ(last.origin, Origin::prefetched);
  EXPECT_EQ(last.wait, 1'000 - 700);  // the link is never idle: its latency passes while the block before is moved
}

TEST(StreamModel, TransfersOfOneLinkNeverOverlap) {
  Bench bench;
  bench.settings.prefetch_distance = 6;
  bench.settings.cache_policy = 2;
  bench.scan(30, 20, 300);
  auto transfers = bench.trace.transfers;
  std::sort(transfers.begin(), transfers.end(), [](auto& a, auto& b) { return a.start < b.start; });
  ASSERT_GT(transfers.size(), 100U);
  for (std::size_t i = 1; i < transfers.size(); ++i) {
    EXPECT_GE(transfers[i].start, transfers[i - 1].start + transfers[i - 1].duration);
    EXPECT_EQ(transfers[i].duration, 1'000);
  }
}

TEST(StreamModel, OnARealLinkAThreadMovesTheBytesItself) {
  Bench bench;
  bench.link = {false, 0, 0, 50, 2e9, {}};
  EXPECT_EQ(bench.scan(5, 1, 0), 5 * 550);
  EXPECT_EQ(bench.trace.transfers[0].duration, 550);
}

TEST(StreamModel, OvershootExcessAndPlanningAreAdded) {
  Bench bench;
  bench.habits.miss_overshoot = {{30}};
  bench.link.excess = {{200}};
  EXPECT_EQ(bench.scan(3, 1, 0), 3 * 1'330);
  Bench planning;
  planning.habits.plan = 40;
  planning.habits.plan_distance = 4;
  planning.settings.prefetch_distance = 8;  // twice the distance: twice the time
  planning.scan(1, 2, 0);
  EXPECT_EQ(planning.trace.accesses[0].wait, 1'100);  // hidden behind the transfer
  EXPECT_EQ(planning.trace.accesses[1].outcome, Outcome::hit);
}

TEST(StreamModel, ABudgetOfOneBlockHoldsOneAndStillServesAll) {
  Bench bench;
  bench.settings.resident = 1'000;
  bench.settings.prefetch_distance = 8;
  EXPECT_EQ(bench.scan(5, 3, 0), 15 * 1'100);
  EXPECT_EQ(bench.trace.prefetches_issued, 0U);  // there is no room beside a demand
}

TEST(StreamModel, TheSameSeedGivesTheSameRunAndAnotherOneDoesNot) {
  const auto run = [](std::uint64_t seed) {
    Bench bench;
    bench.random = simcard::Random(seed, "test");
    bench.habits.late_overshoot = bench.habits.prefetch_oversleep = {{0, 10, 500}};
    bench.settings.prefetch_distance = 4;
    bench.settings.resident = 12'000;
    bench.scan(20, 10, 950);
    std::vector<Time> times;
    for (const AccessRecord& access : bench.trace.accesses) times.push_back(access.time + access.wait);
    return times;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

}  // namespace
}  // namespace dmprof::twin
