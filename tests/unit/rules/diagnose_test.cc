#include "rules/engine/diagnose.h"

#include <gtest/gtest.h>

#include "rules/engine/lint.h"
#include "rules/engine/text.h"
#include "tests/unit/rules/rule_text.h"
#include "tests/unit/rules/values.h"

namespace dmprof::rules {
namespace {

MetricValue missing(const std::string& name, ValueStatus status = ValueStatus::unavailable) {
  MetricValue result = unavailable("nobody recorded it");
  result.name = name;
  result.status = status;
  return result;
}

std::vector<Rule> one_rule() { return {*parse_rule(small_rule, "r.yaml")}; }

Diagnosis diagnosed(const std::vector<MetricValue>& values, const Context& context = {}) {
  const std::vector<Rule> rules = one_rule();
  auto diagnosis = diagnose(rules, catalogue(), values, context);
  EXPECT_TRUE(diagnosis) << diagnosis.error().message;
  return *diagnosis;
}

TEST(Diagnose, a_finding_carries_its_figures_with_definition_and_samples) {
  MetricValue hits = value("prefetch_hit_rate", .2);
  hits.subject = "resident";
  const Diagnosis diagnosis = diagnosed({hits, value("memory_stall_share", .4)});
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  const Finding& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.because.en, "hit rate 20.0 % of resident");
  EXPECT_EQ(finding.because.zh, "命中率 20.0 %");
  ASSERT_EQ(finding.evidence.size(), 2u);
  EXPECT_EQ(finding.evidence[1].metric, "prefetch_hit_rate");
  EXPECT_DOUBLE_EQ(finding.evidence[1].value, .2);
  EXPECT_EQ(finding.evidence[1].samples, 100u);
  EXPECT_FALSE(finding.evidence[1].definition.empty());
  EXPECT_FALSE(finding.fixes.at(0).predicted_gain);
}

TEST(Diagnose, a_quiet_rule_is_cleared_with_the_number_that_decided) {
  const Diagnosis diagnosis = diagnosed({value("prefetch_hit_rate", .9), value("memory_stall_share", .4)});
  EXPECT_TRUE(diagnosis.findings.empty());
  ASSERT_EQ(diagnosis.cleared.size(), 1u);
  EXPECT_EQ(diagnosis.cleared[0].because.en,
            "Hits suffice (prefetch_hit_rate is 90.0 %; the rule asks for prefetch_hit_rate < 0.5)");
  EXPECT_EQ(diagnosis.cleared[0].because.zh, "足够（prefetch_hit_rate 为 90.0 %；规则要求 prefetch_hit_rate < 0.5）");
}

TEST(Diagnose, a_missing_metric_leaves_the_rule_open_and_says_why) {
  const Diagnosis diagnosis = diagnosed({missing("prefetch_hit_rate"), value("memory_stall_share", .4)});
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.cleared.empty());
  ASSERT_EQ(diagnosis.not_evaluated.size(), 1u);
  EXPECT_EQ(diagnosis.not_evaluated[0].because, "prefetch_hit_rate is unavailable: nobody recorded it");
}

TEST(Diagnose, a_condition_without_a_value_leaves_the_rule_open_and_says_which) {
  const auto rule = parse_rule(with("memory_stall_share > 0.1", "prefetch_hit_rate / memory_stall_share > :hits"), "r");
  ASSERT_TRUE(rule) << rule.error().message;
  const std::vector<Rule> rules = {*rule};
  const auto because = [&](const std::vector<MetricValue>& values) {
    const auto diagnosis = diagnose(rules, catalogue(), values, {});
    EXPECT_TRUE(diagnosis && diagnosis->findings.empty() && diagnosis->cleared.empty());
    return diagnosis && diagnosis->not_evaluated.size() == 1 ? diagnosis->not_evaluated[0].because : "";
  };
  EXPECT_EQ(because({value("prefetch_hit_rate", .2), value("memory_stall_share", 0)}),
            "the condition prefetch_hit_rate / memory_stall_share > 0.5 has no value with these figures, as x / 0 has "
            "none");
  EXPECT_EQ(because({value("prefetch_hit_rate", .2), missing("memory_stall_share")}),
            "memory_stall_share is unavailable: nobody recorded it");
}

TEST(Diagnose, an_instrument_error_withholds_what_rests_on_it) {
  const Diagnosis diagnosis =
      diagnosed({missing("prefetch_hit_rate", ValueStatus::invalid), value("memory_stall_share", .4)});
  EXPECT_TRUE(diagnosis.findings.empty());
  ASSERT_EQ(diagnosis.instrument.size(), 1u);
  EXPECT_EQ(diagnosis.instrument[0].check, "instrument-ratio");
  EXPECT_EQ(diagnosis.instrument[0].withheld, std::vector<std::string>{"too-few-hits"});
}

TEST(Diagnose, too_many_lost_events_withhold_findings_and_few_do_not) {
  const std::vector<MetricValue> bad = {value("prefetch_hit_rate", .2), value("memory_stall_share", .4)};
  const auto with_loss = [&](double lost) {
    std::vector<MetricValue> values = bad;
    values.push_back(value("events_lost", lost));
    values.back().samples = 1000;
    return diagnosed(values);
  };
  const Diagnosis heavy = with_loss(100);
  EXPECT_TRUE(heavy.findings.empty());
  ASSERT_EQ(heavy.instrument.size(), 1u);
  EXPECT_EQ(heavy.instrument[0].withheld, std::vector<std::string>{"too-few-hits"});
  const Diagnosis light = with_loss(5);
  EXPECT_EQ(light.findings.size(), 1u);
  ASSERT_EQ(light.instrument.size(), 1u);
  EXPECT_EQ(light.instrument[0].severity, Severity::info);
  EXPECT_TRUE(with_loss(0).instrument.empty());
}

TEST(Diagnose, nothing_is_cleared_on_a_recording_that_lost_too_much) {
  std::vector<MetricValue> values = {value("prefetch_hit_rate", .9), value("memory_stall_share", .4),
                                     value("events_lost", 100)};
  values.back().samples = 1000;
  const Diagnosis diagnosis = diagnosed(values);
  EXPECT_TRUE(diagnosis.cleared.empty());
  ASSERT_EQ(diagnosis.not_evaluated.size(), 1u);
}

TEST(Diagnose, a_recording_that_is_too_short_blames_nobody_and_clears_nobody) {
  Context context;
  context.too_short = "the recording is too short";
  MetricValue budget = value("time_budget", 1);
  budget.parts = {{"draft", .25, 3, true}, {"memory_stall", .75, 3, true}};
  budget.subject = "memory_stall";
  const Diagnosis firing =
      diagnosed({value("prefetch_hit_rate", .2), value("memory_stall_share", .4), budget}, context);
  EXPECT_TRUE(firing.findings.empty());
  ASSERT_EQ(firing.instrument.size(), 1u);
  EXPECT_EQ(firing.instrument[0].check, "instrument-too-short");
  EXPECT_EQ(firing.instrument[0].message.en, context.too_short);
  EXPECT_EQ(firing.instrument[0].withheld, std::vector<std::string>{"too-few-hits"});
  EXPECT_EQ(firing.limiting, "");
  ASSERT_EQ(firing.budget.size(), 2u);
  for (const BudgetPart& part : firing.budget) EXPECT_FALSE(part.critical);
  const Diagnosis quiet = diagnosed({value("prefetch_hit_rate", .9), value("memory_stall_share", .4)}, context);
  EXPECT_TRUE(quiet.cleared.empty());
  ASSERT_EQ(quiet.not_evaluated.size(), 1u);
  EXPECT_EQ(quiet.not_evaluated[0].because, "the recording is too short to clear it");
}

TEST(Diagnose, a_recording_that_is_cut_off_is_told) {
  Context context;
  context.cut_off = "5 bytes are missing";
  const Diagnosis diagnosis = diagnosed({value("prefetch_hit_rate", .2), value("memory_stall_share", .4)}, context);
  EXPECT_EQ(diagnosis.findings.size(), 1u);
  ASSERT_EQ(diagnosis.instrument.size(), 1u);
  EXPECT_EQ(diagnosis.instrument[0].check, "instrument-cut-off");
}

TEST(Diagnose, a_finding_that_only_tolerates_a_missing_metric_is_withheld_when_that_metric_is_wrong) {
  const auto rule = parse_rule(
      with("memory_stall_share > 0.1", "\"memory_stall_share > 0.1 OR memory_stall_share IS NULL\""), "r.yaml");
  ASSERT_TRUE(rule) << rule.error().message;
  const std::vector<Rule> rules = {*rule};
  const std::vector<MetricValue> values = {value("prefetch_hit_rate", .2),
                                           missing("memory_stall_share", ValueStatus::invalid)};
  const auto diagnosis = diagnose(rules, catalogue(), values, {});
  ASSERT_TRUE(diagnosis);
  EXPECT_TRUE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->instrument.at(0).withheld, std::vector<std::string>{"too-few-hits"});
}

TEST(Diagnose, a_profile_may_move_a_threshold) {
  Context context;
  context.thresholds = {{"too-few-hits.hits", 0.1}};
  EXPECT_TRUE(diagnosed({value("prefetch_hit_rate", .2), value("memory_stall_share", .4)}, context).findings.empty());
}

TEST(Diagnose, takes_over_the_budget_and_its_limiting_part) {
  MetricValue budget = value("time_budget", 1);
  budget.parts = {{"draft", .25, 3, true}, {"memory_stall", .75, 3, true}};
  budget.subject = "memory_stall";
  const Diagnosis diagnosis = diagnosed({budget});
  ASSERT_EQ(diagnosis.budget.size(), 2u);
  EXPECT_EQ(diagnosis.limiting, "memory_stall");
  EXPECT_EQ(diagnosed({}).budget_reason, "time_budget was not evaluated");
}

TEST(Diagnose, asks_for_the_metrics_of_conditions_texts_budget_and_loss) {
  const std::vector<Rule> rules = one_rule();
  const auto names = metrics_needed(rules, catalogue());
  ASSERT_TRUE(names);
  EXPECT_EQ(*names,
            (std::vector<std::string>{"events_lost", "memory_stall_share", "prefetch_hit_rate", "time_budget"}));
}

TEST(Lint, complains_about_each_kind_of_mistake) {
  const auto complaints = [](const std::string& yaml) {
    auto rule = parse_rule(yaml, "r.yaml");
    EXPECT_TRUE(rule) << rule.error().message;
    const std::vector<Rule> rules = {*rule};
    return lint(rules, catalogue());
  };
  EXPECT_TRUE(complaints(small_rule).empty());
  EXPECT_EQ(complaints(with("memory_stall_share > 0.1", "memory_stall > 0.1")).at(0).rule, "too-few-hits");
  EXPECT_FALSE(complaints(with("kind: boundary", "kind: fires")).empty());
  EXPECT_FALSE(complaints(with("memory_stall_share > 0.1", "1 > 0.1")).empty());
  EXPECT_FALSE(complaints(with("{hits: 0.5}", "{hits: 0.5, spare: 1}")).empty());
  EXPECT_FALSE(complaints(with("to: \"2\",", "to: \"2\", note: makes it 20 % faster,")).empty());
  EXPECT_FALSE(complaints(with("hit rate {prefetch_hit_rate} of", "1.4x of")).empty());
  EXPECT_FALSE(complaints(with("knob: cache_policy", "knob: ''")).empty());
}

TEST(Lint, a_vector_that_does_not_do_what_it_says_is_reported) {
  auto rule = parse_rule(
      with("title: at, metrics: {prefetch_hit_rate: 0.5", "title: at, metrics: {prefetch_hit_rate: 0.4"), "r.yaml");
  ASSERT_TRUE(rule);
  const std::vector<Rule> rules = {*rule};
  const std::vector<Complaint> complaints = run_vectors(rules, catalogue());
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_NE(complaints[0].message.find("expected quiet, got fires"), std::string::npos);
}

TEST(Text, values_read_like_people_write_them) {
  EXPECT_EQ(in_words(.312, "ratio"), "31.2 %");
  EXPECT_EQ(in_words(4'100'000, "ns"), "4.1 ms");
  EXPECT_EQ(in_words(0, "ns"), "0 ns");
  EXPECT_EQ(in_words(12e9, "B/s"), "12 GB/s");
  EXPECT_EQ(in_words(2.5, "x"), "2.5 x");
}

TEST(Text, fills_in_values_percentiles_and_thresholds_and_leaves_the_unknown) {
  MetricValue itl = value("itl", 2e6);
  itl.kind = MetricKind::distribution;
  itl.spread = Spread{1e6, 2e6, 3e6, 4e6, 5e6};
  const std::vector<MetricValue> values = {itl};
  EXPECT_EQ(fill("{itl} {itl_p99} {:limit} {foreign} {unclosed", values, {{"limit", .5}}),
            "2 ms 4 ms 0.5 {foreign} {unclosed");
}

}  // namespace
}  // namespace dmprof::rules
