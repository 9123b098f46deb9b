#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "dmprof/cachemodel/cache.h"
#include "dmprof/cachemodel/path_forecast.h"
#include "tests/unit/cachemodel/traces.h"

namespace dmprof::cachemodel {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class PredictionCache : public testing::Test {
 protected:
  void demand(BlockId block) {
    matrix->observe(block);
    if (cache.access(block).resident) return;
    evicted.clear();
    ASSERT_EQ(cache.admit(block, 1, FetchCause::demand, evicted), Admission::admitted);
  }
  Admission prefetch(BlockId block) {
    evicted.clear();
    return cache.admit(block, 1, FetchCause::prefetch, evicted);
  }
  void scan(int rounds) {
    for (int i = 0; i < 10 * rounds; ++i) demand(static_cast<BlockId>(i % 10));
  }
  std::shared_ptr<TransitionMatrix> matrix = std::make_shared<TransitionMatrix>();
  BlockCache cache{4, make_policy(PolicyKind::prediction, matrix)};
  std::vector<Evicted> evicted;
};

TEST_F(PredictionCache, a_prefetch_evicts_the_block_that_was_just_used) {
  scan(5);
  demand(0);
  demand(1);
  for (const BlockId block : {2, 3}) {
    if (!cache.contains(block)) {
      EXPECT_EQ(prefetch(block), Admission::admitted);
      EXPECT_TRUE(cache.contains(3) || cache.contains(2));
    }
  }
  // 0 and 1 have just been used and are needed again in eight or nine accesses: everything kept is needed sooner.
  EXPECT_TRUE(cache.contains(2));
  EXPECT_TRUE(cache.contains(3));
}

// What the owner foresees counts for more than what history suggests, until it has come true or is overdue.
TEST_F(PredictionCache, a_block_its_owner_foresees_is_kept_for_that_use) {
  for (int i = 0; i < 40; ++i) demand(static_cast<BlockId>(i % 4));
  cache.foresee(50, 1);
  EXPECT_EQ(prefetch(50), Admission::admitted);  // without the word it would be expected back last of all, and refused
  demand(60);
  EXPECT_TRUE(cache.contains(50));
}

TEST_F(PredictionCache, a_block_that_nobody_foresees_is_refused) {
  for (int i = 0; i < 40; ++i) demand(static_cast<BlockId>(i % 4));
  EXPECT_EQ(prefetch(50), Admission::refused);
}

TEST_F(PredictionCache, a_foreseen_use_that_does_not_come_true_goes_first) {
  for (int i = 0; i < 40; ++i) demand(static_cast<BlockId>(i % 4));
  cache.foresee(50, 1);
  ASSERT_EQ(prefetch(50), Admission::admitted);
  for (int i = 0; i < 8; ++i) {
    const auto block = static_cast<BlockId>(i % 4);
    if (cache.contains(block)) demand(block);
  }
  demand(60);
  EXPECT_FALSE(cache.contains(50));
}

TEST_F(PredictionCache, refuses_a_prefetch_that_is_needed_later_than_all_that_is_kept) {
  scan(5);
  demand(0);
  for (const BlockId block : {1, 2, 3, 4}) {
    if (!cache.contains(block)) prefetch(block);
  }
  for (const BlockId block : {1, 2, 3, 4}) ASSERT_TRUE(cache.contains(block));
  EXPECT_EQ(prefetch(8), Admission::refused);
  EXPECT_THAT(evicted, IsEmpty());
}

TEST_F(PredictionCache, a_block_that_does_not_come_back_is_given_up) {
  for (int i = 0; i < 20; ++i) demand(static_cast<BlockId>(i % 4));
  // Another loop, over 100 to 103: the old blocks are overdue soon and must not occupy the cache for ever.
  for (int i = 0; i < 60; ++i) demand(static_cast<BlockId>(100 + i % 4));
  for (const BlockId block : {100, 101, 102, 103}) EXPECT_TRUE(cache.contains(block));
}

TEST_F(PredictionCache, works_without_a_matrix_from_the_intervals_alone) {
  const Trace trace = cyclic_scan(10, 50);
  BlockCache blind(4, make_policy(PolicyKind::prediction));
  std::uint64_t hits = 0;
  for (const TraceAccess& access : trace) {
    if (blind.access(access.block).resident) {
      ++hits;
    } else {
      blind.admit(access.block, 1, FetchCause::demand, evicted);
    }
  }
  EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(trace.size()), 3.0 / 9.0, 0.03);
}

TEST(PathForecast, names_each_block_of_a_cycle_at_its_next_use) {
  const auto matrix = std::make_shared<TransitionMatrix>();
  PathForecast path(matrix, 100, 0.5);
  std::vector<BlockId> changed;
  for (std::uint64_t tick = 1; tick <= 8; ++tick) {
    const BlockId block = (tick - 1) % 5;
    matrix->observe(block);
    path.advance(block, tick, changed);
  }
  // Tick 8 accessed block 2: 3 comes at tick 9, 2 itself at tick 13.
  EXPECT_EQ(path.next_use(3), 9u);
  EXPECT_EQ(path.next_use(1), 12u);
  EXPECT_EQ(path.next_use(2), 13u);
  EXPECT_EQ(path.next_use(77), std::nullopt);
}

TEST(PathForecast, sees_past_a_step_that_cannot_be_known) {
  // The first block of each round is one of four (a token's embedding), the rest is fixed.
  const auto matrix = std::make_shared<TransitionMatrix>();
  PathForecast path(matrix, 100, 0.5);
  std::vector<BlockId> changed;
  std::uint64_t tick = 0;
  for (std::uint64_t round = 0; round < 40; ++round) {
    for (const BlockId block : {100 + round % 4, BlockId{1}, BlockId{2}, BlockId{3}}) {
      matrix->observe(block);
      path.advance(block, ++tick, changed);
    }
  }
  EXPECT_EQ(path.next_use(1), tick + 2);
  EXPECT_EQ(path.next_use(3), tick + 4);
}

TEST(PathForecast, ends_at_its_horizon) {
  const auto matrix = std::make_shared<TransitionMatrix>();
  PathForecast path(matrix, 3, 0.5);
  std::vector<BlockId> changed;
  for (std::uint64_t tick = 1; tick <= 20; ++tick) {
    matrix->observe((tick - 1) % 10);
    path.advance((tick - 1) % 10, tick, changed);
  }
  EXPECT_EQ(path.next_use(2), 23u);
  EXPECT_EQ(path.next_use(3), std::nullopt);
}

}  // namespace
}  // namespace dmprof::cachemodel
