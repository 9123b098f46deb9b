#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "dmprof/report/diagnosis_json.h"
#include "dmprof/report/diagnosis_text.h"

namespace dmprof::report {
namespace {

using nlohmann::json;

rules::Diagnosis sample() {
  rules::Diagnosis diagnosis;
  diagnosis.budget = {{"memory_stall", 1.0 / 3, true}, {"draft", 1.0 / 3, false}, {"idle", 1.0 / 3, false}};
  diagnosis.limiting = "memory_stall";
  rules::Finding finding;
  finding.rule = "bandwidth-underused";
  finding.severity = rules::Severity::warning;
  finding.confidence = "high";
  finding.title = {"blocks are not there when asked", "需要时数据块不在"};
  finding.because = {"the hit rate is 41 %", "命中率为 41 %"};
  rules::Evidence evidence;
  evidence.metric = "prefetch_hit_rate";
  evidence.value = 0.41;
  evidence.unit = "ratio";
  evidence.definition = "hits / demand accesses";
  evidence.samples = 1200;
  finding.evidence.push_back(evidence);
  finding.checks = {"dmprof --metric prefetch_hit_rate"};
  rules::SuggestedFix fix;
  fix.knob = "cache_policy";
  fix.from = "0";
  fix.to = "2";
  fix.command = {{"dm-engine", "DM_CACHE_POLICY=2 dm-engine"}, {"vllm", "--kv-policy x"}};
  fix.recorded_engine = "dm-engine";
  finding.fixes.push_back(fix);
  diagnosis.findings.push_back(finding);
  diagnosis.cleared.push_back({"speculation-engine-contention",
                               rules::Severity::error,
                               {"contention", "争用"},
                               {"no request waited", "没有请求等待"}});
  diagnosis.not_evaluated.push_back({"host-bound", "host_gap_share is unavailable"});
  diagnosis.instrument.push_back({"instrument-loss",
                                  rules::Severity::warning,
                                  {"2 % of the events were lost", "丢失了 2 % 的事件"},
                                  {"host-bound"}});
  return diagnosis;
}

TEST(DiagnosisText, printed_shares_sum_to_exactly_100_percent) {
  for (const std::vector<double>& shares : {std::vector<double>{1.0 / 3, 1.0 / 3, 1.0 / 3},
                                            {0.12345, 0.23456, 0.64199},
                                            {1.0 / 7, 1.0 / 7, 1.0 / 7, 4.0 / 7},
                                            {1, 0, 0}}) {
    const std::vector<int> tenths = rounded_shares(shares);
    EXPECT_EQ(std::accumulate(tenths.begin(), tenths.end(), 0), 1000);
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(tenths[i], shares[i] * 1000, 1);
  }
}

TEST(DiagnosisText, leads_with_the_budget_and_says_what_is_not_the_problem) {
  const std::string text = diagnosis_text(sample(), Style(false));
  const auto position = [&](const char* part) {
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part << " in\n" << text;
    return at;
  };
  EXPECT_LT(position("limited by memory_stall"), position("bandwidth-underused"));
  EXPECT_LT(position("bandwidth-underused"), position("not the problem"));
  position("100.0 %");
  position("n=1,200");
  position("try: DM_CACHE_POLICY=2 dm-engine");
  position("withheld");
  position("no request waited");
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(DiagnosisText, explains_the_names_of_engines_once_and_only_where_they_stand) {
  rules::Diagnosis several = sample();
  several.findings.push_back(several.findings.front());
  for (const auto language : {rules::Language::en, rules::Language::zh}) {
    const std::string text = diagnosis_text(several, Style(false), language);
    const std::size_t first = text.find("dm-simcard");
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find("dm-simcard", first + 1), std::string::npos) << text;
    EXPECT_GT(first, text.rfind("vllm: --kv-policy x")) << "behind the lines it explains";
  }
  rules::Diagnosis own = sample();
  own.findings[0].fixes[0].command.erase("vllm");
  EXPECT_EQ(diagnosis_text(own, Style(false)).find("dm-simcard"), std::string::npos);
}

TEST(DiagnosisText, a_definition_and_a_fix_are_told_once) {
  rules::Diagnosis several = sample();
  several.findings.push_back(several.findings.front());
  const std::string text = diagnosis_text(several, Style(false));
  const std::size_t definition = text.find("hits / demand accesses");
  EXPECT_EQ(text.find("hits / demand accesses", definition + 1), std::string::npos) << text;
  EXPECT_NE(text.find("fix: cache_policy 0 -> 2 (as above)"), std::string::npos) << text;
  const std::size_t attempt = text.find("try: ");
  EXPECT_EQ(text.find("try: ", attempt + 1), std::string::npos) << text;
}

TEST(DiagnosisText, what_is_not_the_problem_is_short_unless_asked_for) {
  rules::Diagnosis many = sample();
  many.cleared.clear();
  for (int i = 0; i < 12; ++i)
    many.cleared.push_back(
        {"mild-" + std::to_string(i), rules::Severity::info, {"t", ""}, {"reason " + std::to_string(i), ""}});
  many.cleared.push_back({"grave", rules::Severity::error, {"t", ""}, {"its number", ""}});
  for (int i = 0; i < 4; ++i)
    many.not_evaluated.push_back({"short-" + std::to_string(i), "the recording is too short"});

  const std::string brief = diagnosis_text(many, Style(false));
  EXPECT_NE(brief.find("ok grave: its number"), std::string::npos) << "the gravest is told with its number:\n" << brief;
  EXPECT_EQ(brief.find("reason 11"), std::string::npos) << brief;
  EXPECT_NE(brief.find("mild-11"), std::string::npos) << "the others by name:\n" << brief;
  EXPECT_NE(brief.find("short-3: the recording is too short"), std::string::npos)
      << "a reason that many rules share is told:\n"
      << brief;
  EXPECT_EQ(brief.find("host_gap_share"), std::string::npos) << brief;
  EXPECT_NE(brief.find("--full"), std::string::npos) << brief;

  const std::string full = diagnosis_text(many, Style(false), rules::Language::en, Detail::full);
  EXPECT_NE(full.find("ok mild-11: reason 11"), std::string::npos) << full;
  EXPECT_NE(full.find("host-bound: host_gap_share is unavailable"), std::string::npos) << full;
  EXPECT_EQ(full.find("--full"), std::string::npos) << full;
}

TEST(DiagnosisText, says_the_same_in_chinese) {
  const std::string text = diagnosis_text(sample(), Style(false), rules::Language::zh);
  for (const char* part : {"解码步的时间构成", "受限于 memory_stall", "关键", "合计", "100.0 %", "需要时数据块不在",
                           "命中率为 41 %", "没有请求等待", "已检查，不是问题所在", "无法判断"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  EXPECT_NE(text.find("DM_CACHE_POLICY=2 dm-engine"), std::string::npos);
  for (const char* english : {"Findings", "because", "Time budget", "critical", "confidence", "fix:", "not the problem",
                              "blocks are not there", "the hit rate is", "no request waited"})
    EXPECT_EQ(text.find(english), std::string::npos) << english << " in\n" << text;
  // A rule of one's own may lack the translation of a text: English is better than nothing.
  rules::Diagnosis bare = sample();
  bare.findings[0].title.zh = "";
  EXPECT_NE(diagnosis_text(bare, Style(false), rules::Language::zh).find("blocks are not there"), std::string::npos);
}

TEST(DiagnosisText, a_budget_that_is_unavailable_says_why) {
  rules::Diagnosis diagnosis;
  diagnosis.budget_reason = "no decode steps";
  EXPECT_NE(diagnosis_text(diagnosis, Style(false)).find("unavailable: no decode steps"), std::string::npos);
}

TEST(DiagnosisJson, carries_the_keys_scripts_depend_on) {
  const json object = json::parse(diagnosis_json("run.dmprof", sample()));
  EXPECT_EQ(object["budget"][0]["part"], "memory_stall");
  EXPECT_EQ(object["budget"][0]["critical"], true);
  const json& finding = object["findings"][0];
  EXPECT_EQ(finding["rule"], "bandwidth-underused");
  EXPECT_EQ(finding["severity"], "warning");
  EXPECT_EQ(finding["confidence"], "high");
  EXPECT_EQ(finding["evidence"]["prefetch_hit_rate"]["value"], 0.41);
  EXPECT_EQ(finding["because"], "the hit rate is 41 %");
  EXPECT_EQ(finding["because_zh"], "命中率为 41 %");
  EXPECT_EQ(finding["title_zh"], "需要时数据块不在");
  EXPECT_EQ(object["cleared"][0]["because_zh"], "没有请求等待");
  EXPECT_EQ(finding["checks"][0], "dmprof --metric prefetch_hit_rate");
  const json& fix = finding["fixes"][0];
  EXPECT_EQ(fix["knob"], "cache_policy");
  EXPECT_EQ(fix["from"], "0");
  EXPECT_EQ(fix["to"], "2");
  EXPECT_EQ(fix["command"]["dm-engine"], "DM_CACHE_POLICY=2 dm-engine");
  EXPECT_TRUE(fix["predicted_gain"].is_null());
  EXPECT_TRUE(fix["measured_gain"].is_null());
  EXPECT_EQ(object["instrument"][0]["check"], "instrument-loss");
  EXPECT_EQ(object["cleared"][0]["rule"], "speculation-engine-contention");
}

TEST(DiagnosisJson, an_unknown_current_value_and_a_predicted_gain_are_told_apart_from_zero) {
  rules::Diagnosis diagnosis = sample();
  diagnosis.findings[0].fixes[0].from.reset();
  diagnosis.findings[0].fixes[0].predicted_gain = rules::Gain{1.1, 1.3, 1.5};
  diagnosis.findings[0].fixes[0].predicted_cost = rules::Gain{0.94, 0.97, 0.99, "decode_throughput"};
  const json fix = json::parse(diagnosis_json("run.dmprof", diagnosis))["findings"][0]["fixes"][0];
  EXPECT_TRUE(fix["from"].is_null());
  EXPECT_EQ(fix["predicted_gain"]["mid"], 1.3);
  EXPECT_EQ(fix["predicted_cost"]["mid"], 0.97);
  EXPECT_EQ(fix["predicted_cost"]["metric"], "decode_throughput");
}

}  // namespace
}  // namespace dmprof::report
