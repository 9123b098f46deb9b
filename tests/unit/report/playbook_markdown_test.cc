#include "dmprof/report/playbook_markdown.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace dmprof::report {
namespace {

std::string source_folder() {
  const char* source = std::getenv("DMPROF_SOURCE_DIR");
  return source == nullptr ? "." : source;
}

TEST(PlaybookMarkdown, the_page_in_docs_is_the_one_the_rules_make) {
  const auto rules = rules::load_rules(source_folder() + "/rules/playbook");
  ASSERT_TRUE(rules) << rules.error().message;
  std::ifstream in(source_folder() + "/docs/playbook.md");
  std::ostringstream page;
  page << in.rdbuf();
  EXPECT_TRUE(page.str() == playbook_markdown(rules->rules))
      << "write it again: build/bin/dmprof rules list --markdown > docs/playbook.md";
}

TEST(PlaybookMarkdown, names_symptom_cause_check_fix_source_and_confidence_of_a_rule) {
  rules::Rule rule;
  rule.id = "some-rule";
  rule.title.en = "Something is wrong";
  rule.confidence = "low";
  rule.source = "[H] test";
  rule.thresholds = {{"limit", .5}};
  rule.all = {"prefetch_hit_rate < :limit"};
  rule.because.en = "because | of it";
  rule.clears.en = "it is fine";
  rule.checks = {"dmprof --metric prefetch_hit_rate"};
  rules::Fix fix;
  fix.knob = "cache_policy", fix.to = "2", fix.note.en = "try it", fix.command = {{"c8", "export DM_CACHE_POLICY=2"}};
  rule.fixes = {fix};
  const std::string page = playbook_markdown(std::span(&rule, 1));
  for (const char* part :
       {"| [some-rule](#some-rule) |", "`prefetch_hit_rate < :limit`", "limit = 0.5", "because \\| of it", "it is fine",
        "`dmprof --metric prefetch_hit_rate`", "set `cache_policy` to `2`: try it", "c8: `export DM_CACHE_POLICY=2`",
        "[H] test", "confidence low"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in\n" << page;
}

}  // namespace
}  // namespace dmprof::report
