// Instrument rules, details, fixes with measured values, and rules that cannot be used.
#include <gtest/gtest.h>

#include "rules/engine/diagnose.h"
#include "rules/engine/lint.h"
#include "tests/unit/rules/rule_text.h"
#include "tests/unit/rules/values.h"

namespace dmprof::rules {
namespace {

Rule parsed(const std::string& yaml) {
  auto rule = parse_rule(yaml, "r.yaml");
  EXPECT_TRUE(rule) << rule.error().message << "\n" << yaml;
  return rule ? *rule : Rule();
}

// Fires on frozen gauges and distrusts what it is told to.
Rule instrument(const std::string& distrusts) {
  std::string yaml = with("id: too-few-hits", "id: instrument-test");
  yaml.replace(yaml.find("[prefetch_hit_rate < :hits, memory_stall_share > 0.1]"), 53, "[frozen_gauges > :hits]");
  yaml.replace(yaml.find("checks:"), 7, "distrusts: " + distrusts + "\nchecks:");
  return parsed(yaml);
}

Diagnosis diagnosed(const std::vector<Rule>& rules, const std::vector<MetricValue>& values) {
  auto diagnosis = diagnose(rules, catalogue(), values, {});
  EXPECT_TRUE(diagnosis) << diagnosis.error().message;
  return diagnosis ? *diagnosis : Diagnosis();
}

std::vector<std::string> withheld(const Diagnosis& diagnosis) {
  return diagnosis.instrument.empty() ? std::vector<std::string>() : diagnosis.instrument.at(0).withheld;
}

const std::vector<MetricValue> few_hits = {value("prefetch_hit_rate", .2), value("memory_stall_share", .4)};
const std::vector<MetricValue> many_hits = {value("prefetch_hit_rate", .9), value("memory_stall_share", .4)};

TEST(Instruments, a_finding_that_rests_on_what_an_instrument_rule_distrusts_is_withheld_and_says_why) {
  std::vector<MetricValue> values = few_hits;
  values.push_back(value("frozen_gauges", 1));
  // Last in the list: instrument rules are judged first all the same.
  const Diagnosis diagnosis = diagnosed({parsed(small_rule), instrument("[memory_stall_share]")}, values);
  EXPECT_TRUE(diagnosis.findings.empty());
  ASSERT_EQ(diagnosis.instrument.size(), 1u);
  EXPECT_EQ(diagnosis.instrument[0].check, "instrument-test");
  EXPECT_EQ(withheld(diagnosis), std::vector<std::string>{"too-few-hits"});
}

TEST(Instruments, what_is_distrusted_clears_nothing_either) {
  std::vector<MetricValue> values = many_hits;
  values.push_back(value("frozen_gauges", 1));
  const Diagnosis diagnosis = diagnosed({instrument("[prefetch_hit_rate]"), parsed(small_rule)}, values);
  EXPECT_TRUE(diagnosis.cleared.empty());
  ASSERT_EQ(diagnosis.not_evaluated.size(), 1u);
  EXPECT_EQ(diagnosis.not_evaluated[0].because, "prefetch_hit_rate is distrusted (instrument-test)");
}

TEST(Instruments, an_empty_list_only_warns_and_a_quiet_rule_distrusts_nothing) {
  std::vector<MetricValue> values = few_hits;
  values.push_back(value("frozen_gauges", 1));
  EXPECT_EQ(diagnosed({instrument("[]"), parsed(small_rule)}, values).findings.size(), 1u);
  values.back() = value("frozen_gauges", 0);
  const Diagnosis quiet = diagnosed({instrument("[memory_stall_share]"), parsed(small_rule)}, values);
  EXPECT_EQ(quiet.findings.size(), 1u);
  EXPECT_TRUE(quiet.instrument.empty());
  EXPECT_TRUE(quiet.cleared.empty());
}

TEST(Instruments, a_metric_that_a_part_is_named_after_is_distrusted) {
  std::vector<MetricValue> values = few_hits;
  values.push_back(value("frozen_gauges", 2));
  values.back().parts = {{"some_gauge", 1, 1, false}, {"memory_stall_share", 1, 1, false}};
  EXPECT_EQ(withheld(diagnosed({instrument("[]"), parsed(small_rule)}, values)),
            std::vector<std::string>{"too-few-hits"});
}

std::string with_details() {
  return with("checks:",
              "details:\n"
              "  - {on: fires, when: prefetch_hit_rate < 0.3, en: 'Far below ({prefetch_hit_rate}).', zh: 远低于。}\n"
              "  - {on: fires, when: prefetch_hit_rate < 0.1, en: Never., zh: 从不。}\n"
              "  - {on: quiet, when: memory_stall_share > 0.3, en: But it stalls., zh: 但有停顿。}\n"
              "checks:");
}

TEST(Details, are_added_where_their_condition_holds) {
  const Rule rule = parsed(with_details());
  const Diagnosis fires = diagnosed({rule}, few_hits);
  ASSERT_EQ(fires.findings.size(), 1u);
  EXPECT_EQ(fires.findings[0].because.en, "hit rate 20.0 % of unavailable Far below (20.0 %).");
  EXPECT_EQ(fires.findings[0].because.zh, "命中率 20.0 %远低于。");
  const Diagnosis quiet = diagnosed({rule}, many_hits);
  ASSERT_EQ(quiet.cleared.size(), 1u);
  EXPECT_TRUE(quiet.cleared[0].because.en.ends_with("But it stalls.")) << quiet.cleared[0].because.en;
}

TEST(Details, an_english_rule_stays_english) {
  std::string yaml = with_details();
  const std::string chinese = "zh: \"命中率 {prefetch_hit_rate}\"";
  yaml.replace(yaml.find(chinese), chinese.size(), "zh: \"\"");
  const Diagnosis diagnosis = diagnosed({parsed(yaml)}, few_hits);
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_NE(diagnosis.findings[0].because.in(Language::zh).find("hit rate"), std::string::npos);
}

TEST(Fixes, a_measured_value_is_filled_in_and_a_missing_one_drops_the_fix) {
  const Rule rule = parsed(with("to: \"2\", command: {c8: export DM_CACHE_POLICY=2}",
                                "to: \"{optimal_lookahead}\", command: {c8: \"export DM_LOOKAHEAD={to}\"}"));
  std::vector<MetricValue> values = few_hits;
  EXPECT_TRUE(diagnosed({rule}, values).findings.at(0).fixes.empty());
  values.push_back(value("optimal_lookahead", 3));
  const Diagnosis diagnosis = diagnosed({rule}, values);
  ASSERT_EQ(diagnosis.findings.at(0).fixes.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].fixes[0].to, "3");
  EXPECT_EQ(diagnosis.findings[0].fixes[0].command.at("c8"), "export DM_LOOKAHEAD=3");
}

TEST(Fixes, what_is_to_be_filled_in_is_asked_for) {
  const std::vector<Rule> rules = {parsed(with("to: \"2\"", "to: \"{optimal_lookahead}\""))};
  const auto names = metrics_needed(rules, catalogue());
  ASSERT_TRUE(names);
  EXPECT_NE(std::find(names->begin(), names->end(), "optimal_lookahead"), names->end());
}

TEST(Refused, a_rule_that_cannot_be_used_is_named_and_the_others_are_judged) {
  const struct {
    const char* condition;
    const char* says;
  } bad[] = {
      {"prefech_hit_rate > 0.1", "no such column: prefech_hit_rate (did you mean prefetch_hit_rate?)"},
      {"\"memory_stall_share > 0.1; DROP TABLE metrics\"", "';' has no place"},
      {"(SELECT name FROM sqlite_master) > 0", "only the metric row may be read, not sqlite_master"},
      {"(WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n) > 0", "does not compile"},
      {"load_extension('x') > 0", "load_extension"},
      {"memory_stall_share > >", "syntax error"},
  };
  for (const auto& [condition, says] : bad) {
    SCOPED_TRACE(condition);
    std::string yaml = with("memory_stall_share > 0.1", condition);
    yaml.replace(yaml.find("too-few-hits"), 12, "broken");
    const std::vector<Rule> rules = {parsed(yaml), parsed(small_rule)};
    ASSERT_TRUE(metrics_needed(rules, catalogue()));
    const Diagnosis diagnosis = diagnosed(rules, few_hits);
    EXPECT_EQ(diagnosis.findings.size(), 1u);
    ASSERT_EQ(diagnosis.refused.size(), 1u);
    EXPECT_EQ(diagnosis.refused[0].rule, "broken");
    EXPECT_TRUE(diagnosis.refused[0].because.starts_with("r.yaml:7:")) << diagnosis.refused[0].because;
    EXPECT_NE(diagnosis.refused[0].because.find(says), std::string::npos) << diagnosis.refused[0].because;
    EXPECT_FALSE(lint(rules, catalogue()).empty());
  }
}

TEST(Lint, knows_details_distrusts_and_sources) {
  const auto complaints = [](const std::string& yaml) {
    const std::vector<Rule> rules = {parsed(yaml)};
    return lint(rules, catalogue());
  };
  EXPECT_TRUE(complaints(with_details()).empty());
  EXPECT_FALSE(complaints(with("checks:", "distrusts: [no_such_metric]\nchecks:")).empty());
  EXPECT_FALSE(complaints(with("confidence: low", "confidence: high")).empty());  // a heuristic alone
  EXPECT_FALSE(complaints(with("[H] test", "somebody said so")).empty());
  EXPECT_FALSE(complaints(with("Hits suffice", "'Hits suffice {no_such_metric}'")).empty());
  EXPECT_FALSE(complaints(with("to: \"2\"", "to: \"{no_such_metric}\"")).empty());
}

}  // namespace
}  // namespace dmprof::rules
