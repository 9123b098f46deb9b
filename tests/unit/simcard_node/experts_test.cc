#include "samples/simcard/node/experts.h"

#include <gtest/gtest.h>

#include "samples/simcard/node/coherence.h"

namespace dmprof::simcard {
namespace {

TEST(Experts, EvenPopularityNeedsNoBalancing) {
  ExpertLoad load;
  load.tokens = 20000;
  load.steps = 5;
  EXPECT_LT(expert_imbalance(load, 1).cards, 1.05);
}

TEST(Experts, PlacementAndCopiesLevelASkewedLoad) {
  ExpertLoad load;
  load.skew = 1.3;
  load.tokens = 4096;
  load.steps = 10;
  const ExpertImbalance in_order = expert_imbalance(load, 1);
  load.placement = Placement::balanced;
  const ExpertImbalance balanced = expert_imbalance(load, 1);
  load.replicas = 16;
  const ExpertImbalance copied = expert_imbalance(load, 1);
  EXPECT_GT(in_order.cards, 3);
  EXPECT_LT(balanced.cards, in_order.cards);
  EXPECT_LT(copied.cards, balanced.cards);
  EXPECT_GE(copied.cards, 1);
  EXPECT_DOUBLE_EQ(in_order.experts, copied.experts);  // routing does not know where experts live
}

TEST(Experts, FragmentationGrowsWithTheUnevennessOfSizes) {
  EXPECT_EQ(fragmentation(256, 1, 0.8, 1), 0);
  const double uneven = fragmentation(256, 16, 0.8, 1);
  EXPECT_GT(uneven, fragmentation(256, 4, 0.8, 1));
  EXPECT_LT(uneven, 1);
}

TEST(Coherence, ReadersPayOnceWritersPayPerSharer) {
  CoherenceLoad load;
  load.cards = 1;
  const CoherenceTraffic alone = simulate_coherence(load, 1);
  load.cards = 8;
  const CoherenceTraffic shared = simulate_coherence(load, 1);
  load.write_share = 0;
  const CoherenceTraffic readers = simulate_coherence(load, 1);
  EXPECT_LT(readers.per_access, shared.per_access / 10);
  EXPECT_LT(alone.per_access, shared.per_access);
  EXPECT_DOUBLE_EQ(readers.messages, 2 * 8 * 1024);  // every block once to every card, request and answer
}

}  // namespace
}  // namespace dmprof::simcard
