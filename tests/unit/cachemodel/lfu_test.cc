#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dmprof/cachemodel/cache.h"

namespace dmprof::cachemodel {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class LfuCache : public testing::Test {
 protected:
  void demand(BlockId block) {
    if (cache.access(block).resident) return;
    evicted.clear();
    ASSERT_EQ(cache.admit(block, 1, FetchCause::demand, evicted), Admission::admitted);
  }
  Admission prefetch(BlockId block) {
    evicted.clear();
    return cache.admit(block, 1, FetchCause::prefetch, evicted);
  }
  BlockCache cache{3, make_policy(PolicyKind::lfu, nullptr, {.protect_accesses = 4})};
  std::vector<Evicted> evicted;
};

TEST_F(LfuCache, keeps_the_block_used_most_often) {
  for (const BlockId block : {1, 1, 1, 2, 2, 2, 3, 4}) demand(block);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 3u)));
  demand(5);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 4u)));
}

TEST_F(LfuCache, forgets_a_block_that_was_popular_long_ago) {
  for (int i = 0; i < 20; ++i) demand(1);
  BlockId next = 100;
  int evictions = 0;
  while (cache.contains(1) && evictions < 1000) {
    demand(next++);
    ++evictions;
  }
  // Each pair of one-time blocks raises the age by one: 20 uses are outlived after some 40 evictions, not before 20.
  EXPECT_GT(evictions, 20);
  EXPECT_LT(evictions, 60);
}

TEST_F(LfuCache, a_prefetch_does_not_evict_a_prefetched_block_that_waits_for_its_use) {
  for (const BlockId block : {1, 2, 3}) EXPECT_EQ(prefetch(block), Admission::admitted);
  EXPECT_EQ(prefetch(4), Admission::refused);
  EXPECT_THAT(evicted, IsEmpty());
}

TEST_F(LfuCache, demand_may_evict_a_waiting_prefetched_block) {
  for (const BlockId block : {1, 2, 3}) prefetch(block);
  demand(4);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::unused_prefetch, true)));
}

TEST_F(LfuCache, the_protection_of_a_prefetched_block_ends) {
  prefetch(1);
  for (const BlockId block : {2, 3}) demand(block);
  for (int i = 0; i < 5; ++i) {
    demand(2);
    demand(3);
  }
  EXPECT_EQ(prefetch(4), Admission::admitted);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 1u)));
}

TEST_F(LfuCache, the_first_use_of_a_prefetched_block_counts_once) {
  prefetch(1);
  demand(1);
  demand(2);
  demand(2);
  demand(3);
  demand(3);
  demand(4);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 1u)));
}

}  // namespace
}  // namespace dmprof::cachemodel
