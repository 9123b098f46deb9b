// Closed forms of a cyclic scan of W blocks with room for C < W.
#include <gtest/gtest.h>

#include "dmprof/cachemodel/replay.h"
#include "tests/unit/cachemodel/traces.h"

namespace dmprof::cachemodel {
namespace {

struct Shape {
  std::uint64_t blocks;
  std::uint64_t room;
};

class CyclicScan : public testing::TestWithParam<Shape> {
 protected:
  static constexpr std::uint64_t rounds = 200;
  double closed_form() const {
    return static_cast<double>(GetParam().room - 1) / static_cast<double>(GetParam().blocks - 1);
  }
};

TEST_P(CyclicScan, lru_never_hits) {
  const auto result = replay(cyclic_scan(GetParam().blocks, rounds), PolicyKind::lru, GetParam().room);
  EXPECT_EQ(result.hits, 0u);
  EXPECT_EQ(result.misses, GetParam().blocks * rounds);
}

TEST_P(CyclicScan, the_optimum_hits_one_less_than_its_room) {
  const auto result = replay_optimum(cyclic_scan(GetParam().blocks, rounds), GetParam().room);
  EXPECT_TRUE(result.exact);
  EXPECT_NEAR(result.hit_rate(), closed_form(), 0.01);
}

TEST_P(CyclicScan, the_prediction_aware_policy_comes_near_the_optimum) {
  const auto result = replay(cyclic_scan(GetParam().blocks, rounds), PolicyKind::prediction, GetParam().room);
  EXPECT_NEAR(result.hit_rate(), closed_form(), 0.02);
}

TEST_P(CyclicScan, everything_hits_after_the_first_round_when_it_fits) {
  for (const PolicyKind kind : {PolicyKind::lru, PolicyKind::lfu, PolicyKind::prediction}) {
    const auto result = replay(cyclic_scan(GetParam().blocks, rounds), kind, GetParam().blocks);
    EXPECT_EQ(result.misses, GetParam().blocks) << name_of(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, CyclicScan,
                         testing::Values(Shape{2, 1}, Shape{10, 2}, Shape{10, 5}, Shape{10, 9}, Shape{100, 65},
                                         Shape{331, 40}),
                         [](const auto& test) {
                           return std::to_string(test.param.room) + "_of_" + std::to_string(test.param.blocks);
                         });

TEST(SpeculationTrace, policy_2_keeps_the_draft_and_a_part_of_the_target) {
  // 10 draft blocks read 5 times and 90 target blocks read once a step, room for 50: LRU keeps the draft between its
  // passes only (40 hits of 140), the optimum also keeps nearly all of the other 40 target blocks.
  const Trace trace = speculation(10, 5, 90, 60);
  const double lru = replay(trace, PolicyKind::lru, 50).hit_rate();
  const double prediction = replay(trace, PolicyKind::prediction, 50).hit_rate();
  const double optimum = replay_optimum(trace, 50).hit_rate();
  EXPECT_NEAR(lru, 40.0 / 140.0, 0.02);
  EXPECT_GT(optimum, 0.60);
  EXPECT_GT(prediction, 0.9 * optimum);
}

}  // namespace
}  // namespace dmprof::cachemodel
