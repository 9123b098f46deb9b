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
  const StepCost cost = step_cost(h, m, {}, 1, 1, 100, 0);
  EXPECT_NEAR(cost.total() / (pass(m, 1, 1, 100).bytes() / 1e12), 1, 0.01);
}

TEST(Step, ManyTokensTakeTheTimeOfTheirFlops) {
  const Hardware h = one_card();
  const Model m = *open_model("dense-7b");
  const StepCost cost = step_cost(h, m, {}, 1, 8192, 0, 0);
  EXPECT_NEAR(cost.total() / (pass(m, 1, 8192, 0).flops() / 100e12), 1, 0.01);
}

TEST(Step, TheRidgePointIsWhereBothSidesTakeAsLong) {
  const Hardware h = one_card();
  const Model m = *open_model("dense-7b");
  const double tokens = h.ridge_point() * pass(m, 1, 1, 0).weight_bytes / (2 * active_parameters(m));
  const StepCost cost = step_cost(h, m, {}, 1, tokens, 0, 0);
  EXPECT_NEAR(cost.memory / cost.compute, 1, 0.01);
}

TEST(Step, CardsShareTheWorkAndPayTwoAllReducesALayer) {
  Hardware h = one_card();
  const Model m = *open_model("dense-70b");
  const StepCost alone = step_cost(h, m, {}, 4, 1, 100, 0);
  h.cards = 8;
  const StepCost shared = step_cost(h, m, {}, 4, 1, 100, 0);
  EXPECT_NEAR(shared.roofline, alone.roofline / 8, 1e-9);
  EXPECT_NEAR(shared.all_reduce, 2 * 80 * ring_all_reduce(8, 4 * 8192 * 2, h.link), 1e-12);
  EXPECT_EQ(alone.all_reduce, 0);
}

TEST(Step, WhatDoesNotFitComesFromThePoolAndBytesAreConserved) {
  Hardware h = one_card();
  const Model m = *open_model("dense-70b");
  h.pool = {10e9, 0, 0};
  const double all = step_cost(h, m, {}, 1, 1, 0, 0).memory_bytes;
  h.memory_capacity = parameters(m) * m.weight_bytes / 2;
  const StepCost spilled = step_cost(h, m, {}, 1, 1, 0, 0);
  EXPECT_NEAR(spilled.pool_bytes / all, 0.5, 1e-9);
  EXPECT_NEAR(spilled.pool_bytes + spilled.memory_bytes, all, 1);
  EXPECT_NEAR(spilled.spill, spilled.pool_bytes / 10e9, 1e-9);
}

TEST(Step, UnevenExpertsStretchOnlyWhatBelongsToExperts) {
  Hardware h = one_card();
  h.cards = 8;
  const Model m = *open_model("moe-400b");
  Parallel uneven;
  uneven.expert_imbalance = 4;
  const StepCost even_cost = step_cost(h, m, {}, 1, 8192, 0, 0), cost = step_cost(h, m, uneven, 1, 8192, 0, 0);
  EXPECT_GT(cost.compute, 2 * even_cost.compute);
  EXPECT_LT(cost.compute, 4 * even_cost.compute);
  EXPECT_NEAR(cost.memory, even_cost.memory, 1e-12);
  EXPECT_GT(cost.all_to_all, 3.5 * even_cost.all_to_all);
  EXPECT_EQ(cost.all_reduce, even_cost.all_reduce);
}

TEST(Step, ComputeInMemoryMovesNoWeights) {
  Hardware h = one_card();
  Parallel in_memory;
  in_memory.compute_in_memory = true;
  const Model m = *open_model("dense-7b");
  EXPECT_LT(step_cost(h, m, in_memory, 1, 1, 0, 0).memory_bytes, 0.001 * step_cost(h, m, {}, 1, 1, 0, 0).memory_bytes);
}

}  // namespace
}  // namespace dmprof::simcard
