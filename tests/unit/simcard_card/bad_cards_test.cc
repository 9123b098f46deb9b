#include <gmock/gmock.h>

#include "dmprof/base/description/document.h"
#include "samples/simcard/card/read.h"
#include "samples/simcard/config/embedded.h"
#include "tests/unit/simcard_card/cards.h"

namespace dmprof::simcard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  const Result<Document> document = Document::parse(text, "card.yaml");
  if (!document) return document.error().message;
  const Result<CardScenario> scenario = read_card_scenario(document->root());
  return scenario ? "accepted" : scenario.error().message;
}

TEST(CardScenarios, AllThatAreKeptCanBeReadAndRun) {
  for (const char* name : {"bandwidth-underused", "contention"}) {
    const Result<Document> document = open_description("scenarios", name);
    ASSERT_TRUE(document) << document.error().message;
    const Result<CardScenario> scenario = read_card_scenario(document->root());
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_GT(run_for(scenario->parameters, 0.03).card.steps, 5u) << name;
  }
}

TEST(CardScenarios, RefusalsNameLineAndKey) {
  EXPECT_THAT(refusal("title: t\ncard:\n  memory:\n    l2_bandwith: 3TB/s\n"),
              AllOf(HasSubstr("card.yaml:4"), HasSubstr("l2_bandwith"), HasSubstr("l2_bandwidth")));
  EXPECT_THAT(refusal("title: t\ncard:\n  memory:\n    l2_bandwidth: 3TB\n"),
              AllOf(HasSubstr("card.yaml:4"), HasSubstr("l2_bandwidth"), HasSubstr("bandwidth")));
  EXPECT_THAT(
      refusal("title: t\ncard:\n  speculation_engines:\n    engines: 0\n"),
      HasSubstr("card.yaml:4: card.speculation_engines.engines: 0 is out of range; write a number between 1 and"));
  EXPECT_THAT(refusal("title: t\ncard:\n  model:\n    block_size: 1GiB\n"), HasSubstr("fit L1"));
  EXPECT_THAT(refusal("title: t\ncard:\n  workload:\n    arrivals: sometimes\n"), HasSubstr("arrivals"));
  EXPECT_THAT(refusal("title: t\ncard:\n  workload:\n    arrivals: poisson\n"), HasSubstr("rate"));
  EXPECT_THAT(refusal("title: t\nduration: 0s\n"), testing::Not("accepted"));
  EXPECT_THAT(refusal("title: t\nduration: 40000h\n"), HasSubstr("duration"));
  EXPECT_THAT(refusal(""), testing::Not("accepted"));
}

TEST(CardScenarios, AnImpossibleFigureIsNamedWithItsOwnLineAndKey) {
  const struct {
    const char *section, *key, *value;
  } impossible[] = {
      {"memory", "l1_size", "0B"},
      {"memory", "l1_bandwidth", "0B/s"},
      {"memory", "l2_bandwidth", "0TB/s"},
      {"memory", "l2_channels", "0"},
      {"memory", "l2_banks", "0"},
      {"memory", "interleave", "1B"},
      {"memory", "demand_outstanding", "0"},
      {"memory", "l2_size", "2000TiB"},
      {"compute", "modules", "0"},
      {"compute", "peak", "0TFLOP/s"},
      {"speculation_engines", "engines", "0"},
      {"speculation_engines", "bandwidth", "0B/s"},
      {"model", "layers", "0"},
      {"model", "blocks", "16385"},
      {"model", "blocks_per_token", "9999"},
      {"model", "block_size", "1B"},
      {"model", "popularity_skew", "11"},
      {"model", "kv_block", "0"},
      {"model", "shards", "0"},
      {"model", "bytes_per_parameter", "0"},
      {"text", "classes", "100"},
      {"text", "matrix_rows", "0"},
      {"memory", "l2_size", "0B"},
      {"memory", "row_miss", "1000000s"},
      {"memory", "l1_latency", "2s"},
      {"memory", "l2_bandwidth", "1e9TB/s"},
      {"compute", "peak", "1e12TFLOP/s"},
      {"compute", "step_host", "1000s"},
      {"speculation_engines", "draft_layers_at_1b", "1e9"},
      {"speculation_engines", "layer_latency", "2s"},
      {"energy", "l2", "1J/bit"},
      {"energy", "static", "1e9W"},
      {"model", "dense_size", "1TiB"},
      {"model", "kv_size", "2GiB"},
      {"model", "bytes_per_parameter", "17"},
      {"text", "size_exponent", "1e9"},
      {"text", "transition_skew", "11"},
      {"settings", "draft_billions", "10001"},
      {"settings", "draft_billions", "-1"},
      {"settings", "lookahead", "65"},
      {"settings", "cache_policy", "3"},
  };
  for (const auto& [section, key, value] : impossible) {
    const std::string text = std::string("title: t\ncard:\n  ") + section + ":\n    " + key + ": " + value + "\n";
    EXPECT_THAT(refusal(text), testing::StartsWith(std::string("card.yaml:4: card.") + section + "." + key + ": "))
        << text;
  }
  EXPECT_THAT(refusal("title: t\ncard:\n  most_batch: 0\n"), testing::StartsWith("card.yaml:3: card.most_batch: "));
}

TEST(CardScenarios, TheLargestLayerCanBeReadAndRun) {
  const Result<Document> document = Document::parse(
      "title: t\ncard:\n  model: {layers: 2, blocks: 16384, blocks_per_token: 2, block_size: 64KiB}\n", "card.yaml");
  ASSERT_TRUE(document);
  const Result<CardScenario> scenario = read_card_scenario(document->root());
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_GT(run_for(scenario->parameters, 0.005).card.steps, 0u);
}

TEST(CardChecks, WhatCannotBeIsRefusedWithoutRunning) {
  const auto broken = [](auto change) {
    CardParameters p = sparse_card();
    change(p);
    return !check(p).has_value();
  };
  EXPECT_TRUE(check(sparse_card()).has_value());
  EXPECT_TRUE(broken([](CardParameters& p) { p.engine.engines = 0; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.memory.l2_channels = 0; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.memory.l2_bandwidth = std::nan(""); }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.memory.demand_outstanding = 0; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.memory.l2_bytes = 1000; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.model.selection.layers = 0; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.model.selection.per_token = 9; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.language.classes = 100; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.settings.cache_policy = 3; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.workload.arrivals.users = 0; }));
  EXPECT_TRUE(broken([](CardParameters& p) { p.compute.peak_flops = 0; }));
}

TEST(CardChecks, ExtremesThatAreAllowedRun) {
  CardParameters p = sparse_card();
  p.model.selection = {.layers = 1, .blocks = 1, .per_token = 1, .skew = 0, .noise = 1};
  p.language.classes = 2;
  p.predictor.rows = 2;
  p.memory.prefetch_outstanding = 0;
  p.memory.demand_outstanding = 1;
  p.memory.l1_bytes = p.model.block_bytes;
  p.engine.engines = 1;
  p.workload.outputs.typical = 1;
  p.workload.arrivals.users = 3;
  EXPECT_GT(run_for(p, 0.01).card.completed, 0u);
  p.workload.outputs.typical = 2;
  p.settings.lookahead = 0;
  EXPECT_GT(run_for(p, 0.01).card.completed, 0u);
  p.settings.lookahead = 64;
  p.workload.outputs.typical = 500;
  EXPECT_GT(run_for(p, 0.05).card.steps, 0u);
}

}  // namespace
}  // namespace dmprof::simcard
