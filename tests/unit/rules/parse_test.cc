#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(Parse, reads_details_and_what_is_distrusted_and_knows_where_expressions_stand) {
  const auto rule = parse_rule(
      with("checks:", "details: [{on: quiet, when: prefetch_hit_rate > 0.9, en: a, zh: b}]\ndistrusts: [itl]\nchecks:"),
      "r.yaml");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->details.at(0).text.zh, "b");
  ASSERT_TRUE(rule->distrusts);
  EXPECT_EQ(*rule->distrusts, std::vector<std::string>{"itl"});
  EXPECT_EQ(rule->where("memory_stall_share > 0.1"), "r.yaml:7:34");
  EXPECT_EQ(rule->where("prefetch_hit_rate > 0.9"), "r.yaml:10:29");
  complaint(with("checks:", "details: [{on: always, when: x, en: a}]\nchecks:"));
  complaint(with("checks:", "details: [{on: fires, en: a}]\nchecks:"));
  complaint(with("checks:", "details: yes\nchecks:"));
  complaint(with("checks:", "distrusts: itl\nchecks:"));
  complaint(with("checks:", "distrusts: [[itl]]\nchecks:"));
}

TEST(Parse, aliases_that_multiply_or_loop_end_soon) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    laughs += "]\n";
  }
  complaint(laughs);
  complaint("id: &loop [*loop]\n");
  complaint(with("checks: [dmprof --metric prefetch_hit_rate]", "checks: &loop [*loop]"));
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

TEST(Parse, a_file_that_holds_no_rule_is_refused_by_name_and_the_others_are_read) {
  namespace fs = std::filesystem;
  const fs::path base = fs::temp_directory_path() / ("dmprof-rule-folder-test-" + std::to_string(::getpid()));
  fs::remove_all(base);
  fs::create_directories(base);
  std::ofstream(base / "a.yaml") << "id: [broken";
  std::ofstream(base / "b.yaml") << small_rule;
  std::ofstream(base / "c.yaml") << std::string(10 * 1024 * 1024, '#');
  std::ofstream(base / "readme.txt") << "no rule";
  const auto folder = load_rules(base.string());
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(folder->rules.size(), 1u);
  ASSERT_EQ(folder->refused.size(), 2u);
  EXPECT_TRUE(folder->refused[0].message.starts_with((base / "a.yaml").string() + ":"));
  EXPECT_NE(folder->refused[1].message.find("256 KiB"), std::string::npos) << folder->refused[1].message;
  fs::remove_all(base);
}

TEST(Parse, a_folder_that_cannot_be_read_is_an_error_and_never_an_exception) {
  namespace fs = std::filesystem;
  const fs::path base = fs::temp_directory_path() / ("dmprof-rules-test-" + std::to_string(::getpid()));
  fs::remove_all(base);
  fs::create_directories(base / "closed");
  fs::create_directories(base / "loops");
  fs::create_symlink(base / "ring", base / "ring");
  fs::create_symlink(base / "loops" / "a.yaml", base / "loops" / "a.yaml");
  { std::ofstream(base / "file") << "id: x"; }
  const auto refused = [&](const fs::path& folder) {
    const auto rules = load_rules(folder.string());
    if (rules) {  // the folder was read: what is in it was not
      EXPECT_TRUE(rules->rules.empty()) << folder;
      EXPECT_FALSE(rules->refused.empty()) << folder;
      return;
    }
    EXPECT_NE(rules.error().message.find(folder.string()), std::string::npos) << rules.error().message;
    EXPECT_EQ(rules.error().message.find('\n'), std::string::npos);
  };
  refused(base / "ring");
  refused(base / "loops");
  refused(base / "file");
  if (::geteuid() != 0) {  // root reads it all the same
    fs::permissions(base / "closed", fs::perms::none);
    refused(base / "closed");
    fs::permissions(base / "closed", fs::perms::owner_all);
  }
  fs::remove_all(base);
}

}  // namespace
}  // namespace dmprof::rules
