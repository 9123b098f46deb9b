#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "rules/engine/rule.h"
#include "tests/unit/rules/rule_text.h"

namespace dmprof::rules {
namespace {

std::string complaint(const std::string& yaml) {
  EXPECT_FALSE(yaml.empty()) << "the test's replacement did not match";
  const auto rule = parse_rule(yaml, "r.yaml");
  EXPECT_FALSE(rule) << yaml;
  if (rule) return "";
  EXPECT_EQ(rule.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(rule.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(rule.error().message.starts_with("r.yaml:")) << rule.error().message;
  return rule.error().message;
}

TEST(Parse, reads_every_part_of_a_rule) {
  const auto rule = parse_rule(small_rule, "r.yaml");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->id, "too-few-hits");
  EXPECT_EQ(rule->title.zh, "命中太少");
  EXPECT_EQ(rule->severity, Severity::warning);
  EXPECT_EQ(rule->all.size(), 2u);
  EXPECT_DOUBLE_EQ(rule->thresholds.at("hits"), .5);
  EXPECT_EQ(rule->fixes.at(0).command.at("c8"), "export DM_CACHE_POLICY=2");
  EXPECT_EQ(rule->vectors.at(3).expect, Vector::Expect::not_evaluated);
}

TEST(Parse, says_what_is_missing_or_unknown_and_where) {
  EXPECT_NE(complaint(with("severity: warning", "severity: loud")).find("must be one of info, warning, error"),
            std::string::npos);
  EXPECT_NE(complaint(with("source: \"[H] test\"\n", "")).find("'source' is missing"), std::string::npos);
  EXPECT_NE(complaint(with("checks:", "cheques:")).find("no key 'cheques'"), std::string::npos);
  EXPECT_TRUE(complaint(with("severity: warning", "severity: loud")).starts_with("r.yaml:3:"));
  complaint(with("{hits: 0.5}", "{hits: many}"));
  complaint(with("[prefetch_hit_rate < :hits, memory_stall_share > 0.1]", "[]"));
  complaint(with("id: too-few-hits", "id: Too Few"));
  complaint(with("zh: 命中太少", "fr: Peu"));
}

TEST(Parse, a_gain_has_no_place_to_be_typed) { complaint(with("to: \"2\"", "to: \"2\", predicted_gain: 1.4")); }

TEST(Parse, survives_what_is_no_rule) {
  complaint("\t: [");
  complaint("- a\n- b");
  complaint("just text");
  complaint("id: [1, 2]");
  EXPECT_FALSE(parse_rule("", "r.yaml"));
  complaint(std::string(300 * 1024, 'a'));
  complaint(std::string(100'000, '['));
  std::string stairs;
  for (int i = 0; i < 100'000; ++i) stairs += "- ";
  complaint(stairs);
  EXPECT_FALSE(parse_rule(std::string("id: \0x", 6), "r.yaml"));
}

TEST(Parse, names_the_path_that_is_no_file_or_holds_no_rules) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const auto rule = load_rule(folder);
  ASSERT_FALSE(rule);
  EXPECT_NE(rule.error().message.find(folder), std::string::npos);
  EXPECT_FALSE(load_rules("/nonexistent-folder"));
}

}  // namespace
}  // namespace dmprof::rules
