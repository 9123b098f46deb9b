#include "samples/simcard/scenario/scenario.h"

#include <array>

#include <gmock/gmock.h>

#include "samples/simcard/scenario/table.h"

namespace dmprof::simcard {
namespace {

using testing::HasSubstr;

const std::string head = "id: X1\ntitle: t\nclaim: c\nexperiment: toy\nsettings: {a: 1}\n";

Result<Figures> toy(Section settings, const Conduct&) {
  double a = 0;
  settings.quantity("a", Quantity::number, a);
  DMPROF_TRY(settings.finish());
  return Figures{{"f", a, "x"}};
}
constexpr std::array toys = {Experiment{"toy", toy}};

Result<Outcome> outcome(const std::string& text) {
  const Result<Document> document = Document::parse(text, "s.yaml");
  if (!document) return tl::unexpected(document.error());
  const Result<Scenario> scenario = read_scenario(*document);
  if (!scenario) return tl::unexpected(scenario.error());
  return run_scenario(*scenario, toys);
}

TEST(Scenario, VerdictFollowsFromTheFigures) {
  EXPECT_EQ(outcome(head + "claims: {f: {says: 1.05}}\n")->verdict, Verdict::holds);
  EXPECT_EQ(outcome(head + "conditions: if\nclaims: {f: {low: 1, high: 1}}\n")->verdict,
            Verdict::holds_under_conditions);
  const Result<Outcome> wrong = outcome(head + "reason: because\nclaims: {f: {says: 2}}\n");
  EXPECT_EQ(wrong->verdict, Verdict::contradicted);
  EXPECT_DOUBLE_EQ(wrong->compared[0].residual, -0.5);
  EXPECT_EQ(outcome(head + "reason: because\nclaims: {f: {says: -1}}\n")->verdict, Verdict::contradicted);
  EXPECT_EQ(outcome(head + "reason: because\nclaims: {f: {low: 1.01}}\n")->verdict, Verdict::contradicted);
}

TEST(Scenario, WhatFollowsFromItsSettingsConfirmsNothing) {
  const std::string echo = "f: {says: 1, assumes: a}";
  const Result<Outcome> assumed = outcome(head + "claims: {" + echo + "}\n");
  EXPECT_EQ(assumed->verdict, Verdict::assumed);
  EXPECT_THAT(table_text({*assumed}), HasSubstr("f follows from a"));
  EXPECT_EQ(outcome(head + "reason: because\nclaims: {f: {says: 2, assumes: a}}\n")->verdict, Verdict::contradicted);
}

TEST(Scenario, BadFilesNameFileLineAndKey) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, const char*>>{
           {head + "claims: {f: {says: 2}}\n", "s.yaml:1: reason: is missing and the figures contradict"},
           {head + "claims: {g: {says: 2}}\n", "s.yaml:6: claims.g: toy gives no such figure"},
           {head + "claims: {}\n", "s.yaml:6: claims: claims nothing"},
           {head + "claims: {f: {}}\n", "s.yaml:6: claims.f: needs either `says` or a range"},
           {head + "claims: {f: {says: 1, low: 2}}\n", "needs either `says` or a range"},
           {head + "claims: {f: {says: one}}\n", "s.yaml:6: claims.f.says: \"one\" is not a number"},
           {head + "claim: {f: 1}\n", "s.yaml:6: claim: stands here twice"},
           {head + "clams: {f: {says: 1}}\n", "claims: is missing"},
           {"id: X\ntitle: t\nclaim: c\nexperiment: tory\nsettings: {a: 1}\nclaims: {f: {says: 1}}\n",
            "s.yaml:4: experiment: there is none called tory (did you mean toy?)"},
           {"id: X\ntitle: t\nclaim: c\nexperiment: toy\nsettings: {a: 1, b: 2}\nclaims: {f: {says: 1}}\n",
            "s.yaml:5: settings.b: is not a known key"},
           {"id: X\ntitle: t\nclaim: c\nexperiment: toy\nsettings: {a: 3TB}\nclaims: {f: {says: 1}}\n",
            "s.yaml:5: settings.a: \"3TB\" is a size"}}) {
    const Result<Outcome> result = outcome(text);
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().message, HasSubstr(expected));
  }
}

std::string refused(const std::string& settings, const std::string& experiment = "batch-table") {
  const std::string text = "id: A11\ntitle: t\nclaim: c\nexperiment: " + experiment +
                           "\nsettings:\n  hardware: c8-node\n  model: dense-120b\n" + settings +
                           "claims: {f: {says: 1}}\n";
  const Result<Document> document = Document::parse(text, "s.yaml");
  EXPECT_TRUE(document);
  const Result<Outcome> result = run_scenario(*read_scenario(*document), node_experiments());
  EXPECT_FALSE(result) << settings;
  return result ? "" : result.error().message;
}

TEST(Scenario, ImpossibleRunsNameTheirKey) {
  EXPECT_THAT(refused("  batches: [1]\n  rate: 0/s\n"),
              HasSubstr("s.yaml:9: settings.rate: a rate of 0 is not possible"));
  EXPECT_THAT(refused("  batches: [1]\n  rate: 5\n"), HasSubstr("s.yaml:9: settings.rate: \"5\" has no unit"));
  EXPECT_THAT(refused("  batches: [1]\n  rate: 5/s\n  users: 3\n"), HasSubstr("stands beside `users`"));
  EXPECT_THAT(refused("  batches: [1]\n  lookahead: 100\n"), HasSubstr("settings.lookahead: 100 is out of range"));
  EXPECT_THAT(refused("  batches: [1]\n  acceptance: 1.5\n"), HasSubstr("settings.acceptance: \"1.5\" is above 1"));
  EXPECT_THAT(refused("  batches: [1]\n  prompt: 0\n"), HasSubstr("settings.prompt: a typical length of 0"));
  EXPECT_THAT(refused("  batches: [1]\n  verify: some\n"), HasSubstr("\"some\" is not one of all, ready"));
  EXPECT_THAT(refused("  batches: []\n"), HasSubstr("must be a list that is not empty"));
  EXPECT_THAT(refused("  batches: [0]\n"), HasSubstr("settings.batches"));
  EXPECT_THAT(refused("  batches: [1]\n  trace: /nonexistent.csv\n"), HasSubstr("this experiment is run by users"));
  EXPECT_THAT(refused("  trace: /nonexistent.csv\n", "speculation-gain"), HasSubstr("/nonexistent.csv: no such file"));
  for (const char* key : {"users: 3", "rate: 5/s", "prompt: 7", "output: 7", "length_spread: 0.5"})
    EXPECT_THAT(refused(std::string("  trace: t.csv\n  ") + key + "\n", "speculation-gain"),
                HasSubstr("s.yaml:9: settings." + std::string(key).substr(0, std::string(key).find(':')) +
                          ": stands beside `trace`"));
}

TEST(Scenario, GrowthNeedsTwoModelsABatchAndRoomForBoth) {
  const auto refusal_of = [](const std::string& settings) {
    const std::string text =
        "id: X1\ntitle: t\nclaim: c\nexperiment: scaling\nsettings:\n  weight_bytes: 2\n  context: 4096\n"
        "  lookahead: 5\n" +
        settings + "claims: {f: {says: 1}}\n";
    const Result<Outcome> result = run_scenario(*read_scenario(*Document::parse(text, "s.yaml")), node_experiments());
    return result ? std::string("accepted") : result.error().message;
  };
  const std::string machines = "  gpu: h100-node\n  card: c8-node\n";
  EXPECT_THAT(refusal_of(machines + "  batch: 8\n  models: [dense-7b]\n"),
              HasSubstr("s.yaml:12: settings.models: 1 of them"));
  EXPECT_THAT(refusal_of(machines + "  batch: 0\n  models: [dense-7b, dense-70b]\n"), HasSubstr("settings.batch"));
  EXPECT_THAT(refusal_of("  gpu: h100-node\n  card: prefill-node\n  batch: 8\n  models: [dense-7b, dense-1t]\n"),
              HasSubstr("fits neither the memory nor the tiers of card"));
}

TEST(Scenario, ALoadWithoutEndIsAVerdictNotAHang) {
  const std::string text =
      "id: X1\ntitle: t\nclaim: c\nexperiment: speculation-gain\nsettings:\n  hardware: c8-node\n  model: dense-120b\n"
      "  rate: 100000/s\n  requests: 1000000\nclaims: {f: {says: 1}}\n";
  const Result<Outcome> result = run_scenario(*read_scenario(*Document::parse(text, "s.yaml")), node_experiments());
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("s.yaml:5: settings: the queue never drains"));
}

}  // namespace
}  // namespace dmprof::simcard
