// The seven techniques on a cache small enough to work out by hand: 4 elements a token, 100 tokens, 800 bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "analyzers/plan/techniques.h"

namespace dmprof::plan {
namespace {

KvShape small() {
  KvShape shape;
  shape.attention = Attention::gqa;
  shape.layers = 1, shape.heads = 2, shape.kv_heads = 1, shape.head_size = 2;
  return shape;
}

Techniques assumed() {
  Techniques t;
  t.zero_share = 0.7, t.fp8_share = 0.5, t.recent_blocks = 2;  // of 16 tokens
  t.old_read_share = 0.05, t.shared_prefix = 0.5, t.sharing = 8;
  t.delta_every = 8, t.delta_bits = 4, t.projected_heads = 0.5, t.projected_width = 0.25;
  return t;
}

Footprint row(std::string_view name, const KvShape& shape, double memory, const Techniques& t) {
  for (const Footprint& one : kv_techniques(shape, 100, memory, t)) {
    if (one.technique == name) return one;
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(Techniques, what_is_not_zero_is_kept_with_a_bit_an_element) {
  const Footprint one = row("sparse-heads", small(), 1000, assumed());
  EXPECT_NEAR(one.own, 800 * (0.3 * 2 + 0.125) / 2, 1e-9);
  EXPECT_EQ(one.read, one.own);
  EXPECT_EQ(one.operations, 400);
  EXPECT_EQ(one.sequences, 3);
}

TEST(Techniques, sparsity_that_is_rare_costs_more_than_it_saves_and_says_so) {
  Techniques t = assumed();
  t.zero_share = 0;
  EXPECT_GT(row("sparse-heads", small(), 1000, t).own, 800);
}

TEST(Techniques, tokens_with_low_scores_take_one_byte_an_element) {
  const Footprint one = row("score-precision", small(), 1000, assumed());
  EXPECT_NEAR(one.own, 600, 1e-9);
  EXPECT_NEAR(one.operations, 200, 1e-9);
}

TEST(Techniques, a_cache_that_is_8_bit_already_does_not_grow) {
  KvShape shape = small();
  shape.element_bytes = 0.5;
  EXPECT_NEAR(row("score-precision", shape, 1000, assumed()).own, 200, 1e-9);
}

TEST(Techniques, older_blocks_lie_elsewhere_and_some_are_fetched) {
  const Footprint one = row("recent-blocks", small(), 1000, assumed());
  EXPECT_NEAR(one.own, 256, 1e-9);
  EXPECT_NEAR(one.elsewhere, 544, 1e-9);
  EXPECT_NEAR(one.fetched, 27.2, 1e-9);
  EXPECT_EQ(one.operations, 0);
}

TEST(Techniques, more_recent_blocks_than_there_are_tokens_keep_everything) {
  Techniques t = assumed();
  t.recent_blocks = 1e6;
  const Footprint one = row("recent-blocks", small(), 1000, t);
  EXPECT_EQ(one.own, 800);
  EXPECT_EQ(one.elsewhere, 0);
}

TEST(Techniques, a_shared_prefix_is_kept_once_for_those_who_share_it) {
  const Footprint one = row("shared-prefixes", small(), 4800, assumed());
  EXPECT_EQ(one.own, 400);
  EXPECT_EQ(one.shared, 400);
  EXPECT_EQ(one.bytes(8), 450);
  EXPECT_EQ(one.read, 800);
  EXPECT_EQ(one.sequences, 10);  // a group of 8 in 3600, another prefix and 2 in the remaining 1200
  EXPECT_EQ(row("shared-prefixes", small(), 799, assumed()).sequences, 0);
}

TEST(Techniques, precomputed_positions_save_arithmetic_and_no_bytes) {
  const Footprint one = row("precomputed-positions", small(), 1000, assumed());
  EXPECT_EQ(one.own, 800);
  EXPECT_EQ(one.operations, -3.0 * 2 * 100);  // 2 key elements a token
}

TEST(Techniques, seven_of_eight_tokens_are_differences) {
  const Footprint one = row("neighbour-deltas", small(), 1000, assumed());
  EXPECT_NEAR(one.own, 275, 1e-9);  // 2 / 8 + 7 / 8 x 0.5 bytes an element
  EXPECT_NEAR(one.operations, 350, 1e-9);
}

TEST(Techniques, projected_heads_keep_a_quarter_of_their_elements) {
  const Footprint one = row("projected-heads", small(), 1000, assumed());
  EXPECT_NEAR(one.own, 500, 1e-9);
  EXPECT_NEAR(one.operations, 4, 1e-9);  // half of 2 heads, 2 products of 2 x 0.5 elements: 2 FLOP each
}

TEST(Techniques, together_nothing_is_counted_twice) {
  const Footprint one = row("combined", small(), 1e5, assumed());
  // 1.5 bytes an element after the 8-bit half; heads: half sparse (0.575), half an eighth of differences (0.625)
  const double token = 4 * (0.5 * 0.575 + 0.125 * 0.625);
  EXPECT_NEAR(one.own, 32 * token, 1e-9);
  EXPECT_EQ(one.shared, 0);  // the recent tokens are unshared ones
  EXPECT_NEAR(one.elsewhere, 68 * token, 1e-9);
  EXPECT_NEAR(one.operations, 400 * (0.5 + 0.5 * 0.625 + 0.125 * 0.875) + 4 - 600, 1e-9);
}

TEST(Techniques, together_they_take_no_more_than_any_alone) {
  for (const double zeros : {0.0, 0.3, 0.7, 1.0}) {
    for (const double projected : {0.0, 0.5, 1.0}) {
      Techniques t = assumed();
      t.zero_share = zeros, t.projected_heads = projected, t.recent_blocks = 5;
      const auto all = kv_techniques(small(), 100, 1e6, t);
      for (const Footprint& one : all) {
        EXPECT_LE(all.back().bytes(t.sharing), one.bytes(t.sharing) + 1e-9) << one.technique;
        EXPECT_GE(all.back().sequences, one.sequences) << one.technique;
      }
    }
  }
}

TEST(Techniques, differences_that_need_more_bits_than_8_bit_tokens_save_of_the_others_only) {
  Techniques t = assumed();
  t.delta_bits = 12, t.projected_heads = 1, t.projected_width = 1;
  // 16-bit tokens 2 / 8 + 7 / 8 x 1.5, 8-bit ones 1
  EXPECT_NEAR(row("combined", small(), 1e5, t).own, 32 * 4 * (0.5 * 1 + 0.5 * 1.5625), 1e-9);
}

TEST(Techniques, a_recent_window_beyond_the_unshared_part_holds_shared_tokens_once) {
  Techniques t = assumed();
  t.recent_blocks = 5;  // 80 tokens, of which 50 are unshared
  const Footprint one = row("combined", small(), 1e5, t);
  EXPECT_NEAR(one.shared / one.own, 30.0 / 50, 1e-9);
  EXPECT_NEAR(one.read, one.own + one.shared, 1e-9);
}

TEST(Techniques, one_latent_for_all_heads_leaves_none_to_choose) {
  KvShape shape = small();
  shape.attention = Attention::mla;
  shape.latent = 3, shape.rope = 1;
  EXPECT_FALSE(row("sparse-heads", shape, 1000, assumed()).reason.empty());
  EXPECT_FALSE(row("projected-heads", shape, 1000, assumed()).reason.empty());
  EXPECT_FALSE(row("precomputed-positions", shape, 1000, assumed()).reason.empty());
  EXPECT_TRUE(row("combined", shape, 1000, assumed()).reason.empty());
  EXPECT_NEAR(row("combined", shape, 1000, assumed()).own, 32 * 4 * 0.625, 1e-9);
}

TEST(Techniques, an_empty_cache_fits_never_and_needs_nothing) {
  for (const Footprint& one : kv_techniques(KvShape{}, 0, 1e9, assumed())) {
    EXPECT_EQ(one.own, 0);
    EXPECT_TRUE(std::isfinite(one.sequences));
  }
}

}  // namespace
}  // namespace dmprof::plan
