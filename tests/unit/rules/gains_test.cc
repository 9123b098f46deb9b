// Gains come from what-if and decide the order of fixes and findings.
#include "rules/engine/gains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dmprof::rules {
namespace {

using testing::HasSubstr;

SuggestedFix fix(std::string knob, std::string note = "") {
  SuggestedFix result;
  result.knob = std::move(knob), result.from = "0", result.to = "1",
  result.note.en = result.plain_note.en = std::move(note);
  return result;
}

Finding finding(std::string rule, std::vector<SuggestedFix> fixes, std::string confidence = "high") {
  Finding result;
  result.rule = std::move(rule), result.fixes = std::move(fixes), result.confidence = std::move(confidence);
  return result;
}

whatif::Prediction gain_of(double low, double mid, double high) {
  whatif::Prediction prediction;
  prediction.figures = {{"throughput", "tokens/s", 1.0, whatif::Range{low, mid, high}, ""}};
  return prediction;
}

// 1.5 x for "sure", 1.2 x that may be nothing for "likely", a loss for "harmful"; the others are unknown.
Result<whatif::Prediction> oracle(std::span<const whatif::Setting> settings) {
  const std::string& knob = settings.front().knob;
  if (knob == "sure") return gain_of(1.3, 1.5, 1.7);
  if (knob == "small") return gain_of(1.02, 1.05, 1.1);
  if (knob == "likely") return gain_of(0.9, 1.2, 1.4);
  if (knob == "harmful") return gain_of(0.7, 0.8, 0.9);
  if (knob == "refused") return fail(ErrorKind::usage, "outside what the knob takes");
  whatif::Prediction unknown;
  unknown.reason = "not in this recording";
  return unknown;
}

std::vector<std::string> knobs_of(const Finding& of) {
  std::vector<std::string> knobs;
  for (const SuggestedFix& each : of.fixes) knobs.push_back(each.knob);
  return knobs;
}

TEST(Gains, certain_ones_come_first_then_likely_then_unknown_and_losses_are_trials_at_the_end) {
  Diagnosis diagnosis;
  diagnosis.findings = {finding(
      "a", {fix("harmful", "cheap"), fix("unknown"), fix("likely"), fix("small"), fix("refused"), fix("sure")})};
  add_gains(diagnosis, oracle);
  EXPECT_THAT(knobs_of(diagnosis.findings[0]),
              testing::ElementsAre("sure", "small", "likely", "unknown", "refused", "harmful"));
  const std::vector<SuggestedFix>& fixes = diagnosis.findings[0].fixes;
  ASSERT_TRUE(fixes[0].predicted_gain);
  EXPECT_EQ(fixes[0].predicted_gain->mid, 1.5);
  EXPECT_EQ(fixes[0].predicted_gain->metric, "throughput");
  EXPECT_FALSE(fixes[0].trial);
  EXPECT_EQ(fixes[3].gain_reason, "not in this recording");
  EXPECT_EQ(fixes[4].gain_reason, "outside what the knob takes");
  EXPECT_TRUE(fixes[5].trial);
  EXPECT_EQ(fixes[5].note.en, "for trial only, what-if predicts no gain: cheap");
}

TEST(Gains, what_a_fix_costs_in_speed_is_said_beside_what_it_gains) {
  const auto answer = [](double rate) {
    return [rate](std::span<const whatif::Setting>) -> Result<whatif::Prediction> {
      whatif::Prediction prediction;
      prediction.objective = "e2e_latency";
      prediction.figures = {
          {"e2e_latency", "ns", 2.0, whatif::Range{0.9, 1.0, 1.1}, ""},
          {"decode_throughput", "tokens/s", 100, whatif::Range{90 * rate, 100 * rate, 105 * rate}, ""}};
      return prediction;
    };
  };
  Diagnosis diagnosis;
  diagnosis.findings = {finding("a", {fix("max_concurrent")})};
  add_gains(diagnosis, answer(0.97));
  const SuggestedFix& costly = diagnosis.findings[0].fixes[0];
  EXPECT_EQ(costly.predicted_gain->metric, "e2e_latency");
  ASSERT_TRUE(costly.predicted_cost);
  EXPECT_EQ(costly.predicted_cost->metric, "decode_throughput");
  EXPECT_NEAR(costly.predicted_cost->mid, 0.97, 1e-9);
  for (const double rate : {1.0, 1.03}) {
    diagnosis.findings = {finding("a", {fix("max_concurrent")})};
    add_gains(diagnosis, answer(rate));
    EXPECT_FALSE(diagnosis.findings[0].fixes[0].predicted_cost) << rate;
  }
}

TEST(Gains, a_prediction_outweighs_what_the_rule_could_not_tell) {
  Diagnosis diagnosis;
  SuggestedFix doubtful = fix("sure", "asks further ahead");
  doubtful.trial = true,
  doubtful.note.en = "for trial only, the recording cannot tell whether it helps: asks further ahead";
  diagnosis.findings = {finding("a", {doubtful})};
  add_gains(diagnosis, oracle);
  EXPECT_FALSE(diagnosis.findings[0].fixes[0].trial);
  EXPECT_EQ(diagnosis.findings[0].fixes[0].note.en, "asks further ahead");
}

TEST(Gains, a_knob_that_is_not_registered_or_a_value_in_words_is_not_asked_about) {
  Diagnosis diagnosis;
  SuggestedFix foreign = fix("sure"), words = fix("sure");
  foreign.from.reset(), words.typed = false;
  diagnosis.findings = {finding("a", {foreign, words})};
  add_gains(diagnosis, oracle);
  EXPECT_THAT(diagnosis.findings[0].fixes[0].gain_reason, HasSubstr("registers no such knob"));
  EXPECT_THAT(diagnosis.findings[0].fixes[1].gain_reason, HasSubstr("--profile"));
  EXPECT_FALSE(diagnosis.findings[0].fixes[0].predicted_gain);
}

TEST(Gains, findings_of_one_severity_go_by_gain_times_confidence) {
  Diagnosis diagnosis;
  diagnosis.findings = {finding("a", {fix("unknown")}), finding("b", {fix("small")}),
                        finding("c", {fix("sure")}, "low"), finding("d", {fix("sure")})};
  diagnosis.findings[0].severity = Severity::error;
  add_gains(diagnosis, oracle);
  std::vector<std::string> order;
  for (const Finding& each : diagnosis.findings) order.push_back(each.rule);
  EXPECT_THAT(order, testing::ElementsAre("a", "d", "c", "b"));
}

TEST(Gains, what_two_findings_share_is_asked_once_and_nothing_is_asked_without_findings) {
  int asked = 0;
  const Predict counting = [&](std::span<const whatif::Setting>) -> Result<whatif::Prediction> {
    ++asked;
    return gain_of(1.1, 1.2, 1.3);
  };
  Diagnosis diagnosis;
  add_gains(diagnosis, counting);
  EXPECT_EQ(asked, 0);
  diagnosis.findings = {finding("a", {fix("sure")}), finding("b", {fix("sure")})};
  add_gains(diagnosis, counting);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace dmprof::rules
