#include "samples/simcard/node/collectives.h"

#include <gtest/gtest.h>

namespace dmprof::simcard {
namespace {

constexpr Link roce{50e9, 0.85e-6, 0};

TEST(Collectives, SimulatedRingEqualsTheClosedForm) {
  for (const std::int64_t ranks : {2, 3, 8, 64}) {
    for (const double bytes : {1e3, 2e6, 1e9}) {
      const double expected = ring_all_reduce(ranks, bytes, roce);
      EXPECT_NEAR(simulate_ring_all_reduce(ranks, bytes, roce) / expected, 1, 1e-3) << ranks << " " << bytes;
    }
  }
  EXPECT_NEAR(ring_all_reduce(8, 1e6, roce), 2 * 7.0 / 8 * 1e6 / 50e9 + 14 * 0.85e-6, 1e-12);
}

TEST(Collectives, SimulatedAllToAllEqualsTheClosedForm) {
  const std::vector<double> even(8, 1.0 / 8);
  EXPECT_NEAR(simulate_all_to_all(8, 1e6, roce, even) / all_to_all(8, 1e6, roce), 1, 1e-3);
  std::vector<double> skewed(8, (1 - 3.0 / 8) / 7);  // one rank gets three times the mean
  skewed[0] = 3.0 / 8;
  EXPECT_NEAR(simulate_all_to_all(8, 1e6, roce, skewed) / all_to_all(8, 1e6, roce, 3), 1, 1e-3);
}

TEST(Collectives, ASingleCardSaysNothing) {
  EXPECT_EQ(ring_all_reduce(1, 1e9, roce), 0);
  EXPECT_EQ(all_to_all(1, 1e9, roce), 0);
  EXPECT_EQ(simulate_ring_all_reduce(1, 1e9, roce), 0);
}

TEST(Collectives, PipelineTakesItsBubble) {
  const double time = simulate_pipeline(4, 12, 1e-3, 0);
  EXPECT_NEAR(time, 15e-3, 1e-9);
  EXPECT_NEAR(1 - 12e-3 / time, pipeline_bubble(4, 12), 1e-9);
  EXPECT_NEAR(simulate_pipeline(4, 12, 1e-3, 1e-5), 15e-3 + 3e-5, 1e-9);
}

}  // namespace
}  // namespace dmprof::simcard
