// The rows of the table of claims that are about the card.
#include <gtest/gtest.h>

#include "samples/simcard/card/read.h"
#include "samples/simcard/config/embedded.h"
#include "samples/simcard/scenario/card_experiments.h"
#include "samples/simcard/scenario/table.h"
#include "tests/unit/simcard_card/cards.h"

namespace dmprof::simcard {
namespace {

Outcome row(const char* name) {
  const Result<Document> document = open_description("scenarios", name);
  EXPECT_TRUE(document) << document.error().message;
  const Result<Scenario> scenario = read_scenario(*document);
  EXPECT_TRUE(scenario) << scenario.error().message;
  Result<Outcome> outcome = run_scenario(*scenario, card_experiments());
  EXPECT_TRUE(outcome) << outcome.error().message;
  return std::move(*outcome);
}

double figure(const Outcome& outcome, const std::string& name) {
  for (const Figure& each : outcome.figures) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Rows, RemovingPrefetchSchedulingChangesA4) {
  const Outcome a4 = row("a4");
  EXPECT_LT(figure(a4, "cut_without_prefetch_percent"), figure(a4, "load_latency_cut_percent") - 2);
  EXPECT_LT(figure(a4, "load_latency_cut_percent") / 100, figure(a4, "hit_rate") + 0.1);  // misses are not made faster
}

TEST(Rows, RemovingPrefetchSchedulingChangesA13) {
  const Outcome a13 = row("a13");
  EXPECT_LT(figure(a13, "no_prefetch_hit_rate_gain"), -0.1);
  EXPECT_LT(figure(a13, "no_prefetch_throughput_gain_percent"), -2);
  EXPECT_NE(a13.verdict, Verdict::contradicted);
}

TEST(Rows, ContentionIsThereAndBothKnobsShortenAStep) { EXPECT_NE(row("a14").verdict, Verdict::contradicted); }

// Weights pass the cache there: whatever is prefetched is KV, along the predicted path.
TEST(SparseAttention, PrefetchingItsBlocksByThePredictedPathMatters) {
  const Result<Document> document = open_description("scenarios", "sparse-attention");
  ASSERT_TRUE(document) << document.error().message;
  const Result<CardScenario> scenario = read_card_scenario(document->root());
  ASSERT_TRUE(scenario) << scenario.error().message;
  CardParameters p = scenario->parameters;
  EXPECT_GT(p.model.attention.attended, 0u);
  EXPECT_EQ(p.model.selection.blocks, 0u);
  const RunResult with = run_for(p, 0.2), again = run_for(p, 0.2);
  p.prefetch = false;
  const RunResult without = run_for(p, 0.2);
  EXPECT_EQ(without.store.prefetches, 0u);
  EXPECT_GT(with.store.prefetches_used, with.store.prefetches / 3);
  EXPECT_GT(hit_rate(with), hit_rate(without) + 0.05);
  const auto stall = [](const RunResult& r) { return r.card.stall_time / static_cast<double>(r.card.steps); };
  const auto rate = [](const RunResult& r) { return static_cast<double>(r.card.decoded) / r.card.decode_time; };
  EXPECT_LT(stall(with), 0.8 * stall(without));
  EXPECT_GT(rate(with), 1.01 * rate(without));
  EXPECT_EQ(with.events, again.events);
  EXPECT_EQ(with.store.hits, again.store.hits);
  EXPECT_EQ(with.energy.total(), again.energy.total());
}

}  // namespace
}  // namespace dmprof::simcard
