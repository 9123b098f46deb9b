// What must hold for every policy on any trace.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

#include "dmprof/cachemodel/cache.h"
#include "dmprof/cachemodel/replay.h"
#include "tests/unit/cachemodel/traces.h"

namespace dmprof::cachemodel {
namespace {

constexpr PolicyKind kKinds[] = {PolicyKind::lru, PolicyKind::lfu, PolicyKind::prediction};

Trace mixed_trace(std::uint32_t seed) {
  std::mt19937 random(seed);
  Trace trace;
  while (trace.size() < 2000) {
    const std::uint64_t blocks = 2 + random() % 60;
    const Trace part = random() % 2 == 0 ? cyclic_scan(blocks, 1 + random() % 5) : skewed(blocks, 200, random());
    trace.insert(trace.end(), part.begin(), part.end());
  }
  return trace;
}

TEST(Policies, none_beats_the_offline_optimum) {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    const Trace trace = mixed_trace(seed);
    for (const std::uint64_t room : {1u, 7u, 20u, 45u}) {
      const auto optimum = replay_optimum(trace, room);
      ASSERT_TRUE(optimum.exact);
      for (const PolicyKind kind : kKinds) {
        const auto result = replay(trace, kind, room);
        EXPECT_LE(result.hits, optimum.hits) << name_of(kind) << " seed " << seed << " room " << room;
        EXPECT_EQ(result.hits + result.misses, trace.size());
      }
    }
  }
}

TEST(Policies, more_room_never_hurts_lru_and_the_optimum) {
  const Trace trace = mixed_trace(99);
  std::uint64_t lru = 0;
  std::uint64_t optimum = 0;
  for (std::uint64_t room = 1; room < 64; ++room) {
    const auto lru_now = replay(trace, PolicyKind::lru, room).hits;
    const auto optimum_now = replay_optimum(trace, room).hits;
    EXPECT_GE(lru_now, lru);
    EXPECT_GE(optimum_now, optimum);
    lru = lru_now;
    optimum = optimum_now;
  }
}

TEST(Policies, decide_the_same_every_time) {
  const Trace trace = mixed_trace(5);
  for (const PolicyKind kind : kKinds) {
    EXPECT_EQ(replay(trace, kind, 17).hits, replay(trace, kind, 17).hits) << name_of(kind);
  }
}

TEST(Policies, serve_popular_blocks_better_than_chance) {
  const Trace trace = skewed(200, 20000, 3);
  for (const PolicyKind kind : kKinds) {
    EXPECT_GT(replay(trace, kind, 20).hit_rate(), 0.2) << name_of(kind);  // 20 of 200 blocks by chance: 0.1
  }
}

TEST(Optimum, says_that_it_is_no_bound_when_sizes_are_mixed) {
  const Trace trace = {{1, 10}, {2, 20}, {1, 10}};
  const auto result = replay_optimum(trace, 30);
  EXPECT_FALSE(result.exact);
  EXPECT_EQ(result.hits, 1u);
  EXPECT_EQ(result.hit_bytes, 10u);
  EXPECT_EQ(result.miss_bytes, 30u);
}

TEST(Replay, counts_a_block_larger_than_the_cache_as_an_uncacheable_miss) {
  const Trace trace = {{1, 5}, {1, 5}, {2, 1}, {2, 1}};
  for (const auto& result : {replay(trace, PolicyKind::lru, 4), replay_optimum(trace, 4)}) {
    EXPECT_EQ(result.misses, 3u);
    EXPECT_EQ(result.uncacheable, 2u);
    EXPECT_EQ(result.hits, 1u);
  }
}

TEST(Replay, of_nothing_has_no_hits) {
  EXPECT_EQ(replay({}, PolicyKind::prediction, 10).hit_rate(), 0.0);
  EXPECT_EQ(replay_optimum({}, 10).hits, 0u);
}

// Random operations against a cache; the directory's own account must stay consistent and no pinned block may leave.
TEST(BlockCache, keeps_its_budget_and_its_pins_under_random_operations) {
  for (const PolicyKind kind : kKinds) {
    std::mt19937 random(11);
    const auto matrix = std::make_shared<TransitionMatrix>();
    BlockCache cache(100,
                     make_policy(kind, matrix, {.protect_accesses = 8, .path_horizon = 16, .remembered_blocks = 32}));
    std::set<BlockId> resident;
    std::vector<BlockId> pinned;
    std::vector<Evicted> evicted;
    for (int i = 0; i < 20000; ++i) {
      const BlockId block = random() % 50;
      const std::uint64_t bytes = 1 + block % 17;
      const bool prefetch = random() % 3 == 0;
      evicted.clear();
      if (!prefetch) {
        matrix->observe(block);
        ASSERT_EQ(cache.access(block).resident, resident.contains(block));
      }
      if (!resident.contains(block)) {
        const auto cause = prefetch ? FetchCause::prefetch : FetchCause::demand;
        if (cache.admit(block, bytes, cause, evicted) == Admission::admitted) resident.insert(block);
      }
      if (random() % 4 == 0 && resident.contains(block) && pinned.size() < 4) {
        cache.pin(block);
        pinned.push_back(block);
      }
      if (random() % 4 == 0 && !pinned.empty()) {
        cache.unpin(pinned.back());
        pinned.pop_back();
      }
      if (random() % 500 == 0) cache.set_policy(make_policy(kKinds[random() % 3], matrix));
      if (random() % 300 == 0) (void)cache.set_budget(60 + random() % 60, evicted);
      for (const Evicted& each : evicted) {
        ASSERT_EQ(resident.erase(each.block), 1u);
        ASSERT_EQ(std::count(pinned.begin(), pinned.end(), each.block), 0);
      }
      std::uint64_t bytes_resident = 0;
      for (const BlockId each : resident) bytes_resident += 1 + each % 17;
      ASSERT_EQ(cache.resident_bytes(), bytes_resident);
      ASSERT_LE(cache.resident_bytes(), cache.budget());
    }
  }
}

}  // namespace
}  // namespace dmprof::cachemodel
