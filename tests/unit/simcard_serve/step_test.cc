#include "samples/simcard/serve/step.h"

#include <gtest/gtest.h>

#include "samples/simcard/node/collectives.h"

namespace dmprof::simcard {
namespace {

Hardware one_card() {
  Hardware h;
  h.cards = 1;
  h.memory_capacity = 1e15;
  h.memory_bandwidth = 1e12;
  h.peak_compute = 100e12;
  h.link = {50e9, 1e-6, 0};
  return h;
}

TEST(Step, FewTokensTakeTheTimeOfTheirBytes) {
  const Hardware h = one_card();
  const Model m = *open_model("dense-7b");
  const StepCost cost = step_cost(h, m, {}, 1, 1, 100);
  EXPECT_NEAR(cost.total() / (pass(m, 1, 1, 100).bytes() / 1e12), 1, 0.01);
}

TEST(Step, ManyTokensTakeTheTimeOfTheirFlops) {
  const Hardware h = one_card();
  const Model m = *open_model("dense-7b");
  const StepCost cost = step_cost(h, m, {}, 1, 8192, 0);
  EXPECT_NEAR(cost.total() / (pass(m, 1, 8192, 0).flops() / 100e12), 1, 0.01);
}

TEST(Step, TheRidgePointIsWhereBothSidesTakeAsLong) {
  const Hardware h = one_card();
  const Model m = *open_model("dense-7b");
  const double tokens = h.ridge_point() * pass(m, 1, 1, 0).weight_bytes / (2 * active_parameters(m));
  const StepCost cost = step_cost(h, m, {}, 1, tokens, 0);
  EXPECT_NEAR(cost.memory / cost.compute, 1, 0.01);
}

TEST(Step, CardsShareTheWorkAndPayTwoAllReducesALayer) {
  Hardware h = one_card();
  const Model m = *open_model("dense-70b");
  const StepCost alone = step_cost(h, m, {}, 4, 1, 100);
  h.cards = 8;
  const StepCost shared = step_cost(h, m, {}, 4, 1, 100);
  EXPECT_NEAR(shared.roofline, alone.roofline / 8, 1e-9);
  EXPECT_NEAR(shared.all_reduce, 2 * 80 * ring_all_reduce(8, 4 * 8192 * 2, h.link), 1e-12);
  EXPECT_EQ(alone.all_reduce, 0);
}

TEST(Step, WhatDoesNotFitIsReadFromElsewhereAndBytesAreConserved) {
  Hardware h = one_card();
  const Model m = *open_model("dense-70b");
  const double all = step_cost(h, m, {}, 1, 1, 0).memory_bytes;
  h.memory_capacity = parameters(m) * m.weight_bytes / 2;
  const Cold cold = cold_share(h, m, 0);
  EXPECT_NEAR(cold.dense, 0.5, 1e-9);
  const StepCost cost = step_cost(h, m, {}, 1, 1, 0, cold);
  EXPECT_NEAR(cost.cold_bytes / all, 0.5, 1e-9);
  EXPECT_NEAR(cost.cold_bytes + cost.memory_bytes, all, 1);
}

TEST(Step, ExpertsLeaveBeforeTheRest) {
  Hardware h = one_card();
  const Model m = *open_model("moe-400b");
  const double weights = parameters(m) * m.weight_bytes;
  h.memory_capacity = 0.6 * weights;
  EXPECT_EQ(cold_share(h, m, 0).dense, 0);
  EXPECT_GT(cold_share(h, m, 0).experts, 0.4);
  h.memory_capacity = 0.01 * weights;
  EXPECT_EQ(cold_share(h, m, 0).experts, 1);
  EXPECT_GT(cold_share(h, m, 0).dense, 0);
}

TEST(Step, UnevenExpertsStretchOnlyWhatBelongsToExperts) {
  Hardware h = one_card();
  h.cards = 8;
  const Model m = *open_model("moe-400b");
  Parallel uneven;
  uneven.expert_imbalance = 4;
  const StepCost even_cost = step_cost(h, m, {}, 1, 8192, 0), cost = step_cost(h, m, uneven, 1, 8192, 0);
  EXPECT_GT(cost.compute, 2 * even_cost.compute);
  EXPECT_LT(cost.compute, 4 * even_cost.compute);
  EXPECT_NEAR(cost.memory, even_cost.memory, 1e-12);
  EXPECT_GT(cost.all_to_all, 3.5 * even_cost.all_to_all);
  EXPECT_EQ(cost.all_reduce, even_cost.all_reduce);
}

TEST(Step, ComputeInMemoryMovesNoWeights) {
  Hardware h = one_card();
  const Model m = *open_model("dense-7b");
  const double moved = step_cost(h, m, {}, 1, 1, 0).memory_bytes;
  h.compute_in_memory = true;
  EXPECT_LT(step_cost(h, m, {}, 1, 1, 0).memory_bytes, 0.001 * moved);
}

TEST(Step, APipelineTakesItsSlotsAndMovesTheSameWork) {
  Hardware h = one_card();
  h.cards = 8;
  h.link = {1e30, 0, 0};  // links cost nothing here
  const Model m = *open_model("dense-70b");
  Parallel pipeline;
  pipeline.pipeline_stages = 4;
  const StepCost flat = step_cost(h, m, {}, 8, 1, 100), staged = step_cost(h, m, pipeline, 8, 1, 100);
  EXPECT_NEAR(staged.flops, flat.flops, 1);
  EXPECT_GT(staged.memory_bytes, 3.5 * flat.memory_bytes);  // four micro batches each read the weights
  // One micro batch of 2 sequences on 2 cards takes 4 stage times; 4 of them through 4 stages take 7.
  h.cards = 2;
  EXPECT_NEAR(staged.roofline / (step_cost(h, m, {}, 2, 1, 100).roofline * 7 / 4), 1, 1e-9);
  EXPECT_NEAR(staged.roofline / simulate_pipeline(4, 4, step_cost(h, m, {}, 2, 1, 100).roofline / 4, 0), 1, 1e-6);
}

}  // namespace
}  // namespace dmprof::simcard
