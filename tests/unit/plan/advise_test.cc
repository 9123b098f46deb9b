// Advice against figures that were worked out by hand.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analyzers/plan/advise.h"

namespace dmprof::plan {
namespace {

using testing::HasSubstr;

ModelShape seventy_billion(Attention attention) {
  ModelShape shape;
  shape.hidden = 8192, shape.feed_forward = 28672, shape.vocabulary = 32000;
  shape.attention.attention = attention;
  shape.attention.layers = 80, shape.attention.heads = 64, shape.attention.kv_heads = 8,
  shape.attention.head_size = 128;
  shape.attention.latent = 512, shape.attention.rope = 64;
  return shape;
}

Hardware machine() {
  Hardware hardware;
  hardware.name = "test";
  hardware.memory_bytes = 200e9, hardware.bandwidth = 1e12;
  hardware.peak_flops[static_cast<std::size_t>(Precision::fp16)] = 1e15;
  return hardware;
}

const DecodeLoad load{8, 1, 32768};

const Change* find(const std::vector<Change>& all, std::string_view what) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Change& one) { return one.what.starts_with(what); });
  return found == all.end() ? nullptr : &*found;
}

TEST(Shape, weights_of_a_layer_follow_from_its_widths) {
  // 80 (2 8192^2 + 2 8192 1024 + 3 8192 28672) + 8192 32000, and the embedding once more
  EXPECT_EQ(multiplied_weights(seventy_billion(Attention::gqa)), 68'713'185'280.0);
  EXPECT_EQ(kept_weights(seventy_billion(Attention::gqa)), 68'975'329'280.0);
  ModelShape tied = seventy_billion(Attention::gqa);
  tied.tied = true;
  EXPECT_EQ(kept_weights(tied), multiplied_weights(tied));
  // MLA: 2 8192^2 + 8192 576 + 2 512 8192 a layer in place of 2 8192^2 + 2 8192 1024
  EXPECT_EQ(multiplied_weights(seventy_billion(Attention::gqa)) - multiplied_weights(seventy_billion(Attention::mla)),
            80.0 * (2 * 8192 * 1024 - 8192 * 576 - 2 * 512 * 8192));
}

TEST(Shape, a_tile_rounds_every_side_up) {
  ModelShape shape;
  shape.hidden = 100, shape.feed_forward = 130, shape.matrices = 2, shape.vocabulary = 1;
  shape.attention.layers = 1, shape.attention.heads = 1, shape.attention.head_size = 100;
  EXPECT_EQ(multiplied_weights(shape), 2 * 100 * 100 + 2 * 100 * 100 + 2 * 100 * 130 + 100);
  EXPECT_EQ(multiplied_weights(shape, 64), 4 * 128 * 128 + 2 * 128 * 192 + 128 * 64);
}

TEST(DecodeCost, both_parts_move_and_multiply_what_their_formulas_say) {
  const DecodeCost cost = decode_cost(seventy_billion(Attention::gqa), load, machine());
  EXPECT_EQ(cost.weight_bytes, 137'426'370'560.0);
  EXPECT_EQ(cost.kv_bytes, 85'899'345'920.0);         // 327,680 B x 32768 x 8
  EXPECT_EQ(cost.weight_flops, 1'099'410'964'480.0);  // 2 P x 8
  EXPECT_EQ(cost.attention_flops, 687'194'767'360.0);
  EXPECT_EQ(cost.weight_intensity(), 8);
  EXPECT_EQ(cost.attention_intensity(), 8);
  EXPECT_EQ(cost.intensity(), 8);
  EXPECT_NEAR(cost.step(), 0.22332571648, 1e-12);
  EXPECT_FALSE(cost.weights_bound_by_arithmetic);
  EXPECT_EQ(cost.memory_bytes, 2 * 68'975'329'280.0 + 85'899'345'920.0);
  EXPECT_EQ(cost.footprint(load), cost.memory_bytes / 8);
  EXPECT_EQ(cost.sequences, 5);  // (200e9 - 137.95e9) / 10.737e9
}

TEST(DecodeCost, latent_attention_multiplies_over_the_latent) {
  const DecodeCost cost = decode_cost(seventy_billion(Attention::mla), load, machine());
  EXPECT_EQ(cost.attention_flops, 2.0 * 64 * (2 * 512 + 64) * 80 * 32768 * 8);
  EXPECT_EQ(cost.kv_bytes, 80.0 * 576 * 2 * 32768 * 8);
}

TEST(DecodeCost, a_large_batch_is_bound_by_arithmetic_in_whole_tiles) {
  Hardware hardware = machine();
  const DecodeLoad large{4096, 1, 1};
  const ModelShape shape = seventy_billion(Attention::gqa);
  const DecodeCost cost = decode_cost(shape, large, hardware);
  EXPECT_TRUE(cost.weights_bound_by_arithmetic);
  EXPECT_NEAR(cost.weight_time, cost.weight_flops / 1e15, 1e-12);
  hardware.tile = 4096;  // sides of 1024, 28672 and 32000 fill it badly
  EXPECT_NEAR(decode_cost(shape, large, hardware).weight_time, 2 * multiplied_weights(shape, 4096) * 4096 / 1e15,
              1e-12);
  EXPECT_EQ(decode_cost(shape, large, hardware).weight_flops, cost.weight_flops);
}

TEST(DecodeCost, without_a_context_attention_has_no_intensity_and_no_limit_of_sequences) {
  const DecodeCost cost = decode_cost(seventy_billion(Attention::gqa), {1, 1, 0}, machine());
  EXPECT_TRUE(std::isnan(cost.attention_intensity()));
  EXPECT_TRUE(std::isnan(cost.sequences));
  EXPECT_EQ(cost.attention_time, 0);
}

TEST(DecodeCost, weights_larger_than_the_memory_leave_room_for_none) {
  Hardware hardware = machine();
  hardware.memory_bytes = 100e9;
  EXPECT_EQ(decode_cost(seventy_billion(Attention::gqa), load, hardware).sequences, 0);
}

TEST(Hardware, operands_without_a_peak_are_expanded_to_the_next_wider_one) {
  Hardware hardware = machine();
  EXPECT_EQ(hardware.computed_in(Precision::fp4), Precision::fp16);
  EXPECT_EQ(hardware.computed_in(Precision::fp32), Precision::fp16);  // nothing wider is listed
  hardware.peak_flops[static_cast<std::size_t>(Precision::fp8)] = 2e15;
  EXPECT_EQ(hardware.computed_in(Precision::fp4), Precision::fp8);
  EXPECT_EQ(hardware.peak(Precision::fp8), 2e15);
}

TEST(Changes, quantized_weights_move_half_and_multiply_as_much) {
  const ModelShape shape = seventy_billion(Attention::gqa);
  const auto all = changes(shape, load, machine(), {});
  const Change* change = find(all, "8-bit weights");
  ASSERT_NE(change, nullptr);
  EXPECT_THAT(change->assumes, HasSubstr("expanded to fp16"));
  const DecodeCost before = decode_cost(shape, load, machine()), after = decode_cost(change->shape, load, machine());
  EXPECT_EQ(after.weight_bytes * 2, before.weight_bytes);
  EXPECT_EQ(after.weight_flops, before.weight_flops);
  EXPECT_EQ(after.kv_bytes, before.kv_bytes);
}

TEST(Changes, every_one_says_what_it_assumes_and_what_is_lost) {
  Hardware hardware = machine();
  hardware.tile = 100;
  for (const Attention attention : {Attention::mha, Attention::gqa, Attention::mla}) {
    for (const Change& change : changes(seventy_billion(attention), load, hardware, {})) {
      EXPECT_FALSE(change.assumes.empty()) << change.what;
      EXPECT_FALSE(change.loses.empty()) << change.what;
    }
  }
}

TEST(Changes, what_the_model_is_already_is_not_suggested) {
  ModelShape shape = seventy_billion(Attention::mla);
  shape.weight_bytes = 34.0 / 32;  // 8 bits with scales
  shape.attention.element_bytes = 1;
  const auto all = changes(shape, load, machine(), {});
  EXPECT_EQ(find(all, "8-bit"), nullptr);
  EXPECT_EQ(find(all, "MLA"), nullptr);
  EXPECT_EQ(find(all, "GQA"), nullptr);
  EXPECT_EQ(find(all, "together"), nullptr);
  EXPECT_NE(find(all, "4-bit weights"), nullptr);
}

TEST(Changes, a_latent_that_caches_more_than_the_heads_do_is_not_suggested) {
  ModelShape shape = seventy_billion(Attention::gqa);
  shape.attention.kv_heads = 1;  // 256 elements a token and layer
  EXPECT_EQ(find(changes(shape, load, machine(), {}), "MLA"), nullptr);
}

TEST(Changes, groups_that_do_not_divide_the_heads_are_not_suggested) {
  ModelShape shape = seventy_billion(Attention::mha);
  shape.attention.heads = 12;
  EXPECT_EQ(find(changes(shape, load, machine(), {}), "GQA"), nullptr);
  EXPECT_NE(find(changes(shape, load, machine(), {.kv_heads = 4, .latent = 512, .rotary = 64}), "GQA"), nullptr);
}

TEST(Changes, widths_are_looked_at_where_the_tile_is_known) {
  ModelShape shape = seventy_billion(Attention::gqa);
  shape.feed_forward = 28700, shape.vocabulary = 50257;
  Hardware hardware = machine();
  EXPECT_EQ(find(changes(shape, load, hardware, {}), "widths"), nullptr);
  hardware.tile = 64;
  const auto all = changes(shape, load, hardware, {});
  const Change *up = find(all, "widths up"), *down = find(all, "feed-forward down");
  ASSERT_TRUE(up != nullptr && down != nullptr);
  EXPECT_EQ(up->shape.feed_forward, 28736u);
  EXPECT_EQ(up->shape.vocabulary, 50304u);
  EXPECT_EQ(down->shape.feed_forward, 28672u);
  // Where arithmetic is the limit, padding is free and a tile less is not.
  const DecodeLoad large{8192, 1, 1};
  const double before = decode_cost(shape, large, hardware).weight_time;
  EXPECT_EQ(decode_cost(up->shape, large, hardware).weight_time, before);
  EXPECT_LT(decode_cost(down->shape, large, hardware).weight_time, before);
}

TEST(Changes, together_takes_the_variant_whose_step_is_shortest) {
  const auto all = changes(seventy_billion(Attention::mha), load, machine(), {});
  const Change* together = find(all, "together");
  ASSERT_NE(together, nullptr);
  EXPECT_EQ(together, &all.back());
  EXPECT_EQ(together->shape.attention.attention, Attention::mla);
  EXPECT_EQ(together->shape.attention.element_bytes, 1);
  EXPECT_EQ(together->shape.weight_bytes, 1);
  // Where arithmetic is dear, heads that share keys beat a latent that multiplies more.
  Hardware slow = machine();
  slow.peak_flops[static_cast<std::size_t>(Precision::fp16)] = 2e13;
  const auto others = changes(seventy_billion(Attention::mha), load, slow, {});
  EXPECT_EQ(others.back().shape.attention.attention, Attention::gqa);
}

DecodeCost taking(double roofline, double serial) {
  DecodeCost cost;
  cost.weight_time = roofline, cost.serial = serial;
  return cost;
}

TEST(StepGain, without_a_measured_step_it_lies_between_hidden_and_unhidden_arithmetic) {
  const auto gain = step_gain(taking(10, 12), taking(4, 6), std::nullopt);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->low, 2);
  EXPECT_EQ(gain->high, 2.5);
}

TEST(StepGain, what_a_measured_step_takes_beyond_its_roofline_stays_or_shrinks) {
  const auto gain = step_gain(taking(10, 10), taking(5, 5), MeasuredStep{20, 15});
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->low, 20.0 / 15, 1e-12);     // 5 of 20 are saved
  EXPECT_NEAR(gain->high, 20.0 / 12.5, 1e-12);  // half of the pass is
}

TEST(StepGain, a_pass_at_its_roofline_may_uncover_its_arithmetic) {
  const auto gain = step_gain(taking(20, 23), taking(5, 8), MeasuredStep{20, 20});
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->low, 20.0 / 8, 1e-12);
  EXPECT_NEAR(gain->high, 20.0 / 5, 1e-12);
}

TEST(StepGain, a_pass_a_little_below_its_roofline_is_at_it) {
  const auto gain = step_gain(taking(10, 10), taking(5, 5), MeasuredStep{9, 9});
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->low, 2, 1e-12);
  EXPECT_NEAR(gain->high, 2, 1e-12);
}

TEST(StepGain, a_roofline_far_longer_than_the_measured_pass_predicts_nothing) {
  EXPECT_FALSE(step_gain(taking(10, 10), taking(5, 5), MeasuredStep{20, 7}));
  EXPECT_FALSE(step_gain(taking(10, 10), taking(5, 5), MeasuredStep{0, 0}));
}

TEST(Changes, a_variant_that_lengthens_the_step_is_not_part_of_what_goes_together) {
  Hardware slow = machine();
  slow.peak_flops[static_cast<std::size_t>(Precision::fp16)] = 1e12;
  const auto all = changes(seventy_billion(Attention::gqa), load, slow, {});
  ASSERT_NE(find(all, "MLA"), nullptr);
  EXPECT_EQ(all.back().kind, "together");
  EXPECT_EQ(all.back().shape.attention.attention, Attention::gqa);
}

TEST(StepGain, what_changes_nothing_gains_nothing) {
  for (const double pass : {8.0, 10.0, 11.0, 40.0}) {
    const auto gain = step_gain(taking(10, 12), taking(10, 12), MeasuredStep{50, pass});
    ASSERT_TRUE(gain);
    EXPECT_NEAR(gain->high, 1, 1e-12);
    EXPECT_LE(gain->low, 1);
  }
}

}  // namespace
}  // namespace dmprof::plan
