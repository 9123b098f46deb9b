// The calculators against figures that were worked out by hand (FACTS.md B3, B4, A12; FORMULAS.md).
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "analyzers/plan/batch.h"
#include "analyzers/plan/kv.h"
#include "analyzers/plan/window.h"

namespace dmprof::plan {
namespace {

constexpr double kGib = 1 << 30;

KvShape heads_of_64(Attention attention) {
  KvShape shape;
  shape.attention = attention;
  shape.layers = 48, shape.heads = 32, shape.kv_heads = 8, shape.head_size = 64, shape.latent = 64;
  return shape;
}

TEST(Kv, the_table_of_variants_holds_for_mha_and_gqa_and_is_a_quarter_of_the_claim_for_a_latent_of_64) {
  const double tokens = 128 * 1024;
  EXPECT_NEAR(kv_bytes_per_token(heads_of_64(Attention::mha)) * tokens / kGib, 48, 1e-9);
  EXPECT_NEAR(kv_bytes_per_token(heads_of_64(Attention::gqa)) * tokens / kGib, 12, 1e-9);
  EXPECT_NEAR(kv_bytes_per_token(heads_of_64(Attention::mla)) * tokens / kGib, 0.75, 1e-9);
}

TEST(Kv, a_hidden_width_of_4096_and_48_layers_take_79_gb_at_100000_tokens) {
  KvShape shape;
  shape.layers = 48, shape.heads = 32, shape.head_size = 128;
  EXPECT_NEAR(kv_bytes_per_token(shape) * 100e3 / 1e9, 78.6, 0.05);
}

TEST(Kv, sequences_that_fit_are_whole_ones) {
  const KvShape shape = heads_of_64(Attention::gqa);
  const double each = kv_bytes_per_token(shape) * 1000;
  EXPECT_EQ(sequences_that_fit(shape, 1000, each * 3.9), 3);
  EXPECT_EQ(sequences_that_fit(KvShape{}, 1000, 1e9), 0);
}

TEST(Roofline, the_ridge_of_989_tflops_over_3_35_tb_is_295_flop_a_byte_and_as_many_bf16_tokens) {
  const Roofline h100{989.5e12, 3.35e12};
  EXPECT_NEAR(h100.ridge(), 295, 0.5);
  EXPECT_NEAR(h100.crossover_tokens(2), 295, 0.5);
  EXPECT_NEAR(h100.attainable(10), 33.5e12, 1e6);
  EXPECT_EQ(h100.attainable(1000), 989.5e12);
}

TEST(Roofline, one_token_through_a_square_of_4096_does_one_flop_a_byte_in_two_byte_elements) {
  EXPECT_NEAR(ideal_intensity(4096, 4096, 1, 2), 0.9995, 1e-4);
}

TEST(Window, what_can_be_streamed_within_the_latency_is_counted_in_whole_heads) {
  const Roofline card{160e12, 3e12};
  EXPECT_NEAR(effective_bandwidth(card, 10, 0.5), 1.5e12, 1);     // memory is the limit
  EXPECT_NEAR(effective_bandwidth(card, 1000, 0.5), 0.16e12, 1);  // arithmetic is
  EXPECT_EQ(attention_window(1.5e12, 10e-6, 1.2e6), 13);
  EXPECT_NEAR(harmonic_bandwidth(3e12, 1e12, 0.5), 1.5e12, 1);
}

TEST(Batch, speculation_pays_less_with_every_doubling_and_not_at_all_past_the_crossover) {
  const Roofline machine{300e12, 3e12};
  const Served served{120e9, 1, 0, 0, 0.02, 0};
  const std::array<double, 5> acceptance = {0.8, 0.8, 0.8, 0.8, 0.8};
  const std::vector<std::uint64_t> batches = {1, 8, 64, 512};
  const auto rows = over_batches(served, machine, acceptance, batches);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].lookahead, 5u);
  // E = (1 - .8^6) / .2 = 3.689, cost 1 + 5 x .02: by hand.
  EXPECT_NEAR(rows[0].speedup, 3.68928 / 1.1, 1e-6);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LE(rows[i].speedup, rows[i - 1].speedup);
    EXPECT_GE(rows[i].tokens_per_s, rows[i - 1].tokens_per_s);
  }
  EXPECT_EQ(rows[3].lookahead, 0u);
  EXPECT_EQ(rows[3].speedup, 1);
  EXPECT_TRUE(rows[3].compute_bound);
}

}  // namespace
}  // namespace dmprof::plan
