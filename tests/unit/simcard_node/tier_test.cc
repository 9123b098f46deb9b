#include <gtest/gtest.h>

#include "samples/simcard/node/storage.h"

namespace dmprof::simcard {
namespace {

// 1 GB/s, 1 ms, requests of 1 MB: the link needs as long for a request as the request waits for its latency.
TierParameters drive(std::int64_t outstanding) { return {"nvme", 1e9, {1e9, 1e-3, 10e-12}, 1e6, outstanding, 1, 0}; }

void expect_conserved(const TierUse& use, double compression = 1) {
  EXPECT_NEAR(use.placed + use.written, use.held + use.released, 1);
  EXPECT_NEAR(use.moved, (use.written + use.read) / compression, 1);
  EXPECT_NEAR(use.energy, use.moved * 8 * 10e-12, 1e-12);
}

TEST(Tier, OneRequestAtATimePaysTheLatencyOfEach) {
  Tier tier(drive(1));
  EXPECT_NEAR(seconds(tier.write(100e6, 0)), 100 * (1e-3 + 1e-3), 1e-9);
  expect_conserved(tier.use());
}

TEST(Tier, EnoughRequestsUnderWayReachTheLinksBandwidth) {
  for (const auto& [outstanding, each] : {std::pair{2, 1e-3}, {64, 1e-3}}) {
    Tier tier(drive(outstanding));
    EXPECT_NEAR(seconds(tier.read(100e6, 0)), 1e-3 + 100 * each, 1e-9) << outstanding;
  }
  // Little: 8 x 1 MB / (10 ms + 1 ms) is what 8 requests can carry over a slower answer
  TierParameters slow = drive(8);
  slow.link.latency = 10e-3;
  Tier tier(slow);
  EXPECT_NEAR(800e6 / seconds(tier.read(800e6, 0)) / (8e6 / 11e-3), 1, 0.01);
}

TEST(Tier, TransfersQueueBehindEachOther) {
  Tier tier(drive(64));
  const SimTime first = tier.write(50e6, 0), second = tier.read(50e6, 0);
  EXPECT_NEAR(seconds(second - first), 50e-3, 1e-9);
  const SimTime later = tier.read(1e6, from_seconds(10));
  EXPECT_NEAR(seconds(later), 10 + 2e-3, 1e-9);  // nothing is left of the queue
  EXPECT_NEAR(tier.use().busy, 0.101, 1e-9);
  expect_conserved(tier.use());
}

TEST(Tier, CompressionStoresAndMovesLessAndPackingBoundsIt) {
  TierParameters packed = drive(64);
  packed.compression = 4;
  Tier tier(packed);
  EXPECT_TRUE(tier.fits(4e9));
  EXPECT_FALSE(tier.fits(4.1e9));
  EXPECT_NEAR(seconds(tier.write(400e6, 0)), 1e-3 + 0.1, 1e-6);
  EXPECT_NEAR(tier.use().moved, 100e6, 1);
  expect_conserved(tier.use(), 4);
  packed.packing = 2e9;
  Tier bounded(packed);
  EXPECT_NEAR(seconds(bounded.write(400e6, 0)), 1e-3 + 0.2, 1e-6);
}

TEST(Tier, WhatIsReleasedMakesRoomAndAccountsClose) {
  Tier tier(drive(64));
  tier.place(400e6);
  tier.write(500e6, 0);
  EXPECT_FALSE(tier.fits(101e6));
  tier.release(500e6);
  EXPECT_TRUE(tier.fits(600e6));
  EXPECT_NEAR(tier.use().peak, 900e6, 1);
  expect_conserved(tier.use());
}

TEST(Tier, AbsurdTransfersEnd) {
  TierParameters crawl = drive(4);
  crawl.link.bandwidth = 1;
  Tier tier(crawl);
  EXPECT_GE(tier.read(1e30, 0), kLongestRun);
  EXPECT_GT(tier.read(1e30, 0), 0);  // and time does not wrap
}

TEST(Storage, FillsTheFirstTierFirstAndReadsInParallel) {
  TierParameters near = drive(64), far = drive(64);
  near.capacity = 300e6;
  Storage storage({near, far});
  const std::vector<double> shares = storage.place(1000e6);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_NEAR(shares[0], 0.3, 1e-9);
  EXPECT_NEAR(seconds(storage.read(100e6, shares, 0)), 1e-3 + 0.07, 1e-9);  // as long as the larger part takes
  EXPECT_EQ(storage.tier_for(200e6), std::optional<std::size_t>(1));
  EXPECT_EQ(storage.tier_for(400e6), std::nullopt);
  EXPECT_TRUE(storage.place(2e9).empty());
}

}  // namespace
}  // namespace dmprof::simcard
