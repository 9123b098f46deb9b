#include "dmprof/cachemodel/transition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace dmprof::cachemodel {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

auto is(BlockId block, double probability, std::uint32_t distance) {
  return AllOf(Field(&Predicted::block, block), Field(&Predicted::probability, DoubleNear(probability, 1e-9)),
               Field(&Predicted::distance, distance));
}

void observe_all(TransitionMatrix& matrix, std::initializer_list<BlockId> blocks) {
  for (const BlockId block : blocks) matrix.observe(block);
}

TEST(TransitionMatrix, knows_nothing_before_it_has_seen_a_transition) {
  TransitionMatrix matrix;
  EXPECT_EQ(matrix.most_likely_next(), std::nullopt);
  EXPECT_THAT(matrix.predict(5, 5), IsEmpty());
  matrix.observe(1);
  EXPECT_EQ(matrix.most_likely_next(), std::nullopt);
}

TEST(TransitionMatrix, is_exact_on_the_fixed_order_of_dense_weights) {
  TransitionMatrix matrix;
  for (int round = 0; round < 3; ++round) observe_all(matrix, {0, 1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(matrix.probability(4, 0), 1.0);
  EXPECT_EQ(matrix.most_likely_next(), 0u);
  EXPECT_THAT(matrix.predict(4, 10), ElementsAre(is(0, 1, 1), is(1, 1, 2), is(2, 1, 3), is(3, 1, 4)));
}

TEST(TransitionMatrix, gives_relative_frequencies_at_a_branch) {
  TransitionMatrix matrix;
  // After block 1: block 2 three times, block 3 once.
  observe_all(matrix, {1, 2, 1, 2, 1, 2, 1, 3, 1});
  EXPECT_DOUBLE_EQ(matrix.probability(1, 2), 0.75);
  EXPECT_DOUBLE_EQ(matrix.probability(1, 3), 0.25);
  EXPECT_DOUBLE_EQ(matrix.probability(1, 9), 0.0);
  EXPECT_THAT(matrix.predict(1, 10), ElementsAre(is(2, 0.75, 1), is(3, 0.25, 1)));
  EXPECT_THAT(matrix.predict(1, 10, 0.5), ElementsAre(is(2, 0.75, 1)));
  EXPECT_THAT(matrix.predict(1, 1), ElementsAre(is(2, 0.75, 1)));
}

TEST(TransitionMatrix, is_sure_of_what_lies_behind_an_uncertain_step) {
  TransitionMatrix matrix;
  observe_all(matrix, {9, 1, 5, 6, 9, 2, 5, 6, 9, 3, 5, 6, 9, 4, 5, 6, 9});
  const auto predicted = matrix.predict(3, 10, 0.9);
  EXPECT_THAT(predicted, ElementsAre(is(5, 1, 2), is(6, 1, 3)));
}

TEST(TransitionMatrix, two_blocks_of_context_tell_apart_what_one_cannot) {
  // Block 5 is followed by 1 after a 4 and by 6 after a 7.
  TransitionMatrix one({.order = 1});
  TransitionMatrix two({.order = 2});
  for (int round = 0; round < 10; ++round) {
    for (const BlockId block : {4, 5, 1, 7, 5, 6}) {
      one.observe(block);
      two.observe(block);
    }
  }
  for (const BlockId block : {7, 5}) {
    one.observe(block);
    two.observe(block);
  }
  EXPECT_DOUBLE_EQ(one.predict(1, 1)[0].probability, 0.5);
  EXPECT_THAT(two.predict(1, 10), ElementsAre(is(6, 1, 1)));
}

TEST(TransitionMatrix, an_unseen_pair_falls_back_to_the_last_block) {
  TransitionMatrix matrix({.order = 2});
  observe_all(matrix, {1, 2, 3, 1, 2, 3, 8, 2});
  EXPECT_EQ(matrix.most_likely_next(), 3u);
}

TEST(TransitionMatrix, new_behaviour_replaces_old) {
  TransitionMatrix matrix({.decay_at = 64});
  for (int i = 0; i < 1000; ++i) observe_all(matrix, {1, 2});
  for (int i = 0; i < 200; ++i) observe_all(matrix, {1, 3});
  EXPECT_GT(matrix.probability(1, 3), 0.95);
}

TEST(TransitionMatrix, a_forgotten_position_links_nothing) {
  TransitionMatrix matrix;
  observe_all(matrix, {1, 2});
  matrix.forget_position();
  observe_all(matrix, {7});
  EXPECT_DOUBLE_EQ(matrix.probability(2, 7), 0.0);
  EXPECT_DOUBLE_EQ(matrix.probability(1, 2), 1.0);
}

TEST(TransitionMatrix, memory_stays_bounded_on_random_ids) {
  TransitionMatrix matrix({.order = 2, .max_rows = 100, .max_successors = 4});
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; ++i) {
    matrix.observe(random() % 500);
    ASSERT_LE(matrix.rows(), 100u);
  }
  // Probabilities stay probabilities although successors were thrown out.
  for (BlockId from = 0; from < 500; ++from) {
    double sum = 0;
    for (BlockId to = 0; to < 500; ++to) sum += matrix.probability(from, to);
    EXPECT_LE(sum, 1.0 + 1e-9);
  }
  for (const Predicted& each : matrix.predict(20, 1000)) {
    EXPECT_GT(each.probability, 0.0);
    EXPECT_LE(each.probability, 1.0);
  }
}

TEST(TransitionMatrix, nonsense_options_become_the_nearest_sensible_ones) {
  TransitionMatrix matrix({.order = 9, .max_rows = 0, .max_successors = 0, .decay_at = 0});
  EXPECT_EQ(matrix.options().order, 2u);
  for (int i = 0; i < 100; ++i) matrix.observe(static_cast<BlockId>(i % 3));
  EXPECT_LE(matrix.rows(), 2u);
}

}  // namespace
}  // namespace dmprof::cachemodel
