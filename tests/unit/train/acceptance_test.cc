#include "samples/models/train/acceptance.h"

#include <gtest/gtest.h>

namespace dmprof::train {
namespace {

TEST(Acceptance, a_perfect_draft_gives_lookahead_plus_one_tokens_a_step) {
  const auto totals = speculate({AcceptanceTrace(90, 1.0)}, 8, 90);
  EXPECT_DOUBLE_EQ(totals.tokens_per_step(), 9.0);
  EXPECT_DOUBLE_EQ(totals.mean(), 1.0);
}

TEST(Acceptance, a_useless_draft_gives_one_token_a_step) {
  const auto totals = speculate({AcceptanceTrace(50, 0.0)}, 4, 50);
  EXPECT_DOUBLE_EQ(totals.tokens_per_step(), 1.0);
  EXPECT_DOUBLE_EQ(totals.conditional(0), 0.0);
  EXPECT_DOUBLE_EQ(totals.conditional(1), 0.0);
}

TEST(Acceptance, equal_chances_give_the_geometric_sum) {
  const auto totals = speculate({AcceptanceTrace(100000, 0.75)}, 3, 100000);
  EXPECT_NEAR(totals.tokens_per_step(), 1 + 0.75 + 0.75 * 0.75 + 0.75 * 0.75 * 0.75, 1e-4);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(totals.conditional(i), 0.75, 1e-9);
}

// Accepted places are 1, 1, 0, 1, 1, 1. With two proposals: places 0 and 1 accepted and one more from the target; then
// 3, 4, 5 likewise.
TEST(Acceptance, walks_the_steps_that_a_greedy_engine_takes) {
  const AcceptanceTrace trace = {1, 1, 0, 1, 1, 1};
  EXPECT_DOUBLE_EQ(speculate({trace}, 2, 6).steps, 2.0);
  // With one proposal: 0 (+1), 2 rejected, 3 (+4), 5.
  const auto one = speculate({trace}, 1, 6);
  EXPECT_DOUBLE_EQ(one.steps, 4.0);
  EXPECT_DOUBLE_EQ(one.conditional(0), 0.75);
}

TEST(Acceptance, length_cuts_every_sequence) {
  const auto totals = speculate({AcceptanceTrace(50, 0.0), AcceptanceTrace(10, 0.0)}, 2, 20);
  EXPECT_DOUBLE_EQ(totals.tokens, 30.0);
}

TEST(Loop, is_seen_when_the_end_repeats_and_only_then) {
  std::vector<unsigned short> tokens;
  for (unsigned short i = 0; i < 60; ++i) tokens.push_back(i);
  EXPECT_FALSE(ends_in_loop(tokens, 60));
  for (int i = 0; i < 30; ++i) tokens.push_back(static_cast<unsigned short>(100 + i % 10));
  EXPECT_TRUE(ends_in_loop(tokens, 90));
  EXPECT_FALSE(ends_in_loop(tokens, 60));
  EXPECT_FALSE(ends_in_loop(tokens, 80)) << "two rounds are no loop yet";
}

}  // namespace
}  // namespace dmprof::train
