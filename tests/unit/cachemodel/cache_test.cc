#include "dmprof/cachemodel/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dmprof::cachemodel {
namespace {

using testing::ElementsAre;
using testing::Field;

class LruCache : public testing::Test {
 protected:
  Admission fetch(BlockId block, std::uint64_t bytes = 1, FetchCause cause = FetchCause::demand) {
    evicted.clear();
    return cache.admit(block, bytes, cause, evicted);
  }
  BlockCache cache{3, make_policy(PolicyKind::lru)};
  std::vector<Evicted> evicted;
};

TEST_F(LruCache, evicts_the_block_accessed_longest_ago) {
  for (const BlockId block : {1, 2, 3}) fetch(block);
  cache.access(1);
  EXPECT_EQ(fetch(4), Admission::admitted);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 2u)));
}

TEST_F(LruCache, evicts_as_many_blocks_as_a_large_one_needs) {
  for (const BlockId block : {1, 2, 3}) fetch(block);
  EXPECT_EQ(fetch(4, 2), Admission::admitted);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 1u), Field(&Evicted::block, 2u)));
  EXPECT_EQ(cache.resident_bytes(), 3u);
}

TEST_F(LruCache, passes_over_pinned_blocks) {
  for (const BlockId block : {1, 2, 3}) fetch(block);
  cache.pin(1);
  fetch(4);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 2u)));
}

TEST_F(LruCache, nests_pins) {
  fetch(1, 3);
  cache.pin(1);
  cache.pin(1);
  cache.unpin(1);
  EXPECT_EQ(fetch(2), Admission::no_room);
  cache.unpin(1);
  EXPECT_EQ(fetch(2), Admission::admitted);
}

TEST_F(LruCache, evicts_nothing_when_it_cannot_free_enough) {
  for (const BlockId block : {1, 2, 3}) fetch(block);
  cache.pin(3);
  EXPECT_EQ(fetch(4, 3), Admission::no_room);
  EXPECT_TRUE(evicted.empty());
  EXPECT_EQ(cache.blocks(), 3u);
}

TEST_F(LruCache, tells_a_block_that_can_never_fit) { EXPECT_EQ(fetch(1, 4), Admission::too_large); }

TEST_F(LruCache, reports_a_prefetched_block_that_left_without_use) {
  fetch(1, 1, FetchCause::prefetch);
  fetch(2, 1, FetchCause::prefetch);
  EXPECT_TRUE(cache.access(2).first_use_of_prefetch);
  EXPECT_FALSE(cache.access(2).first_use_of_prefetch);
  fetch(3, 3);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::unused_prefetch, true), Field(&Evicted::unused_prefetch, false)));
}

TEST_F(LruCache, a_smaller_budget_evicts_at_once_but_not_what_is_pinned) {
  for (const BlockId block : {1, 2, 3}) fetch(block);
  cache.pin(1);
  evicted.clear();
  EXPECT_TRUE(cache.set_budget(1, evicted));
  EXPECT_EQ(evicted.size(), 2u);
  EXPECT_TRUE(cache.contains(1));
  EXPECT_FALSE(cache.set_budget(0, evicted));
  EXPECT_EQ(cache.budget(), 1u);
}

TEST_F(LruCache, a_new_policy_knows_the_order_of_accesses) {
  for (const BlockId block : {1, 2, 3}) {
    cache.access(block);
    fetch(block);
  }
  cache.access(1);
  cache.set_policy(make_policy(PolicyKind::lru));
  fetch(4);
  EXPECT_THAT(evicted, ElementsAre(Field(&Evicted::block, 2u)));
}

TEST(PolicyNumbers, are_those_of_the_environment_variable) {
  EXPECT_EQ(policy_from(0), PolicyKind::lru);
  EXPECT_EQ(policy_from(1), PolicyKind::lfu);
  EXPECT_EQ(policy_from(2), PolicyKind::prediction);
  EXPECT_EQ(policy_from(3), std::nullopt);
  EXPECT_EQ(name_of(PolicyKind::lfu), "lfu");
}

}  // namespace
}  // namespace dmprof::cachemodel
