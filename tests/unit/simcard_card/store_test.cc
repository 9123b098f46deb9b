#include "samples/simcard/memory/store.h"

#include <gtest/gtest.h>

namespace dmprof::simcard {
namespace {

constexpr std::uint64_t kBlock = 1 << 20;

class StoreTest : public testing::Test {
 protected:
  static MemoryParameters parameters() {
    MemoryParameters p;
    p.l1_bytes = 4 * kBlock;
    p.interleave = kBlock;
    p.prefetch_outstanding = 1;
    p.demand_outstanding = 2;
    return p;
  }
  Asked ask(BlockId block) {
    const Asked asked = store.ask(block, kBlock);
    simulation.run(asked.ready);
    if (asked.held) store.release(block);
    return asked;
  }
  Simulation simulation;
  Channels channels{parameters()};
  Store store{simulation, parameters(), kBlock, cachemodel::PolicyKind::lru, channels, nullptr};
  const SimTime alone = time_for(kBlock, 3e12 / 32) + 600 * kNanosecond + 30 * kNanosecond;
};

TEST_F(StoreTest, AMissTakesLatencyAndItsChannelsTimeThenItIsThere) {
  const Asked first = ask(7);
  EXPECT_EQ(first.outcome, Found::miss);
  EXPECT_EQ(first.ready, alone);
  EXPECT_EQ(ask(7).outcome, Found::hit);
}

TEST_F(StoreTest, APrefetchThatHadTimeIsAHitOneUnderWayIsLate) {
  store.expect(1, 1, 1);
  store.expect(2, 2, 2);
  simulation.run(alone);
  const Asked one = store.ask(1, kBlock), two = store.ask(2, kBlock);
  EXPECT_EQ(one.outcome, Found::hit);
  EXPECT_EQ(one.origin, Origin::prefetched);
  EXPECT_EQ(two.outcome, Found::late);
  EXPECT_GT(two.ready, simulation.now());
  EXPECT_LT(two.ready, simulation.now() + alone + 1);
}

TEST_F(StoreTest, OnlySoManyPrefetchesAreUnderWayAndDemandGoesFirst) {
  store.expect(1, 1, 1);
  store.expect(2, 2, 2);
  store.expect(3, 3, 3);
  EXPECT_EQ(store.statistics().prefetches, 1u);
  const Asked demand = store.ask(9, kBlock);
  EXPECT_EQ(demand.outcome, Found::miss);
  simulation.run(demand.ready - 1);
  EXPECT_EQ(store.statistics().prefetches, 1u);  // waits while demand is under way
  simulation.run();
  EXPECT_EQ(store.statistics().prefetches, 3u);
}

TEST_F(StoreTest, AskingForAQueuedBlockFetchesItOnce) {
  store.expect(1, 1, 1);
  store.expect(2, 2, 2);
  EXPECT_EQ(store.ask(2, kBlock).outcome, Found::miss);
  simulation.run();
  EXPECT_EQ(store.statistics().prefetches, 1u);
  EXPECT_EQ(channels.statistics().bytes, 2 * kBlock);
}

TEST_F(StoreTest, UnwantedRequestsLeaveTheQueue) {
  store.expect(1, 1, 1);
  store.expect(2, 2, 2);
  store.expect(3, 30, 3);
  store.cancel_before(30);
  simulation.run();
  EXPECT_EQ(store.statistics().prefetches, 2u);  // 1 was under way, 3 was kept
}

TEST_F(StoreTest, AskedBlocksLargerTogetherThanL1PassBy) {
  std::vector<Asked> asked;
  for (BlockId block = 0; block < 6; ++block) asked.push_back(store.ask(block, kBlock));
  EXPECT_TRUE(asked[3].held);
  EXPECT_FALSE(asked[4].held);
  EXPECT_GT(asked[5].ready, asked[3].ready);  // two at a time
  simulation.run();
  EXPECT_LE(store.resident_bytes(), 4 * kBlock);
}

// What brings blocks is far faster than L1 here, so that L1's bandwidth says when they land.
class SlowL1 : public testing::Test {
 protected:
  static MemoryParameters parameters(bool one_bus) {
    MemoryParameters p;
    p.l1_bytes = 64 * kBlock;
    p.l1_bandwidth = 1e9;
    p.l1_one_bus = one_bus;
    p.prefetch_outstanding = 4;
    return p;
  }
  struct Nothing : Actor {
    void on_event(std::uint32_t, std::uint64_t) override {}
  };
  static void pass_until(SimTime time, Simulation& simulation) {
    Nothing nothing;
    simulation.at(time, nothing, 0);
    simulation.run();
  }
  const SimTime written = time_for(kBlock, 1e9);
};

TEST_F(SlowL1, BlocksLandOneAfterTheOtherAtItsBandwidth) {
  Simulation simulation;
  Channels channels{parameters(false)};
  Store store{simulation, parameters(false), kBlock, cachemodel::PolicyKind::lru, channels, nullptr};
  for (BlockId block = 1; block <= 4; ++block) store.expect(block, block, block);
  simulation.run();
  EXPECT_GE(simulation.now(), 4 * written);
  EXPECT_LT(simulation.now(), 5 * written);
  EXPECT_EQ(store.bandwidth_for_reads(), 1e9);  // reads have a bus of their own
}

TEST_F(SlowL1, OnOneBusReadsGetWhatFillsLeaveAndAllOfItWhenThereAreNone) {
  Simulation simulation;
  Channels channels{parameters(true)};
  Store store{simulation, parameters(true), kBlock, cachemodel::PolicyKind::lru, channels, nullptr};
  store.expect(1, 1, 1);
  pass_until(4 * written, simulation);
  EXPECT_NEAR(store.bandwidth_for_reads(), 0.75e9, 0.001e9);  // one of four such times went into the fill
  EXPECT_NEAR(store.bandwidth_for_reads(), 0.75e9, 0.001e9);  // asked again at once: the same stretch
  pass_until(8 * written, simulation);
  EXPECT_EQ(store.bandwidth_for_reads(), 1e9);
  for (BlockId block = 2; block <= 5; ++block) store.expect(block, block, block);
  simulation.run();
  EXPECT_NEAR(store.bandwidth_for_reads(), 0.1e9, 0.001e9);  // fills alone never take all of it
}

TEST(Channels, ReadsThatMeetOnAChannelWaitForEachOther) {
  MemoryParameters p;
  p.l2_channels = 1;
  p.row_miss = 0;
  Channels one(p);
  const SimTime length = time_for(kBlock, p.l2_bandwidth);
  EXPECT_EQ(one.read(0, 1, kBlock), 16 * time_for(64 << 10, p.l2_bandwidth) + p.l2_latency);
  EXPECT_GE(one.read(0, 2, kBlock), 2 * length - 16 + p.l2_latency);
  EXPECT_EQ(one.statistics().bytes, 2 * kBlock);
}

TEST(Channels, AStreamUsesAllOfThemAtOnce) {
  MemoryParameters p;
  p.row_miss = 0;
  p.l2_latency = 0;
  Channels channels(p);
  EXPECT_NEAR(seconds(channels.stream(0, 3'000'000)), 1e-6, 1e-9);
  EXPECT_EQ(channels.stream(kSecond, 0), kSecond);
}

}  // namespace
}  // namespace dmprof::simcard
