#include "samples/simcard/scenario/table.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "samples/simcard/scenario/card_experiments.h"

namespace dmprof::simcard {
namespace {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> both;
    for (const auto part : {card_experiments(), node_experiments()}) both.insert(both.end(), part.begin(), part.end());
    return both;
  }();
  return all;
}

// The table is run once for all tests of this file.
const std::vector<Outcome>& table() {
  static const std::vector<Outcome> outcomes = [] {
    const Result<std::vector<Scenario>> scenarios = table_scenarios();
    EXPECT_TRUE(scenarios) << (scenarios ? "" : scenarios.error().message);
    const Result<std::vector<Outcome>> run = run_table(*scenarios, experiments(), 3);
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    return *run;
  }();
  return outcomes;
}

const Outcome& row(const std::string& id) {
  for (const Outcome& outcome : table()) {
    if (outcome.scenario.id == id) return outcome;
  }
  ADD_FAILURE() << id << " is no row";
  static const Outcome none;
  return none;
}

double figure(const std::string& id, const std::string& name) {
  for (const Figure& f : row(id).figures) {
    if (f.name == name) return f.value;
  }
  ADD_FAILURE() << id << " has no figure " << name;
  return 0;
}

TEST(Table, SharesLieBetween0And1) {
  for (const Outcome& outcome : table()) {
    for (const Figure& each : outcome.figures) {
      if (each.unit != "ratio" || each.name.ends_with("_gain")) continue;  // a gain is the difference of two shares
      EXPECT_GE(each.value, 0) << outcome.scenario.id << " " << each.name;
      EXPECT_LE(each.value, 1) << outcome.scenario.id << " " << each.name;
    }
  }
}

TEST(Table, DoesNotDependOnTheNumberOfThreads) {
  // The rows of the second article, which are the quick ones, again on one thread.
  std::vector<Scenario> again;
  std::vector<Outcome> kept;
  for (const Outcome& outcome : table()) {
    if (outcome.scenario.id.front() != 'B') continue;
    again.push_back(outcome.scenario);
    kept.push_back(outcome);
  }
  const Result<std::vector<Outcome>> one = run_table(again, experiments(), 1);
  ASSERT_TRUE(one);
  EXPECT_EQ(table_json(*one), table_json(kept));
}

TEST(Table, HasARowForEveryClaim) {
  for (const char* id :
       {"A4", "A9", "A10", "A11", "A12", "A13", "A14", "A15", "A16", "A17", "B2", "B4", "B5", "B6", "B7", "B8", "B10"})
    row(id);
}

TEST(Table, BatchTableIsWithinTenPercentOnAllEightFigures) {
  const Outcome& outcome = row("A11");
  ASSERT_EQ(outcome.compared.size(), 8u);
  for (const Compared& c : outcome.compared) EXPECT_LE(std::abs(c.residual), 0.1) << c.claimed.figure;
}

TEST(Table, SpeculationGainsLessAtLargerBatches) {
  EXPECT_GT(figure("A11", "speedup_batch_1"), figure("A11", "speedup_batch_4"));
  EXPECT_GT(figure("A11", "speedup_batch_8"), figure("A11", "speedup_batch_16"));
}

TEST(Table, QueueOfFourEnginesMatchesErlangCWithinOnePercent) {
  // C = (r^c/c!)(c/(c-r)) / (sum r^k/k! + the same), response / service = 1 + C / (c - r); at utilization 0.8
  const double c = 4, r = 4 * 0.8;
  double term = 1, sum = 0;
  for (int k = 0; k < 4; ++k) {
    sum += term;
    term *= r / (k + 1);
  }
  const double waiting = term * c / (c - r) / (sum + term * c / (c - r));
  const double erlang = 1 + waiting / (c - r);
  EXPECT_NEAR(erlang, 1.7455, 0.0005);
  EXPECT_NEAR(figure("A10", "queueing_inflation") / erlang, 1, 0.01);
  EXPECT_LT(figure("A10", "queueing_inflation_error") / erlang, 0.01);
  // Drafts that all take as long are no exponential service: the wait is about half, which Cosmetatos' correction of
  // Erlang C gives (1976), and Erlang C itself does not.
  const double fixed = 1 + (erlang - 1) / 2 * (1 + (1 - 0.8) * (c - 1) * (std::sqrt(4 + 5 * c) - 2) / (16 * 0.8 * c));
  EXPECT_NEAR(figure("A10", "queueing_inflation_equal_drafts") / fixed, 1, 0.02);
  EXPECT_LT(figure("A10", "queueing_inflation_equal_drafts"), 0.85 * erlang);
}

TEST(Table, LittlesLawHoldsInEveryRunThatServes) {
  for (const char* id : {"A9", "A10", "A11", "A15", "A16", "B6", "B7"})
    EXPECT_NEAR(figure(id, "littles_law"), 1, 1e-6) << id;  // a run that misses it by 1 % shows no figure at all
}

TEST(Table, ContradictedClaimsSayWhy) {
  for (const Outcome& outcome : table()) {
    if (outcome.verdict != Verdict::contradicted) continue;
    EXPECT_GT(outcome.scenario.reason.size(), 40u) << outcome.scenario.id;
  }
}

// What other rows and threads do meanwhile changes nothing: a row alone on one thread gives what the table has.
TEST(Table, ARowIsTheSameOnAnyNumberOfThreads) {
  Result<std::vector<Scenario>> some = table_scenarios();
  ASSERT_TRUE(some);
  std::erase_if(*some, [](const Scenario& each) { return each.id != "A14" && each.id != "B6" && each.id != "B7"; });
  ASSERT_EQ(some->size(), 3u);
  const Result<std::vector<Outcome>> alone = run_table(*some, experiments(), 1);
  ASSERT_TRUE(alone);
  for (const Outcome& outcome : *alone) {
    const Outcome& among = row(outcome.scenario.id);
    ASSERT_EQ(outcome.figures.size(), among.figures.size());
    for (std::size_t i = 0; i < among.figures.size(); ++i)
      EXPECT_EQ(outcome.figures[i].value, among.figures[i].value)
          << outcome.scenario.id << " " << among.figures[i].name;
  }
}

TEST(Table, TheDocumentIsCurrent) {
  std::ifstream in(std::string(std::getenv("DMPROF_SOURCE_DIR")) + "/docs/scenarios.md");
  const std::string kept((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(kept, table_markdown(table()))
      << "write it again: build/bin/dm-simcard scenarios --markdown > docs/scenarios.md";
}

}  // namespace
}  // namespace dmprof::simcard
