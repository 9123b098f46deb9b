#include "rules/engine/condition.h"

#include <vector>

#include <gtest/gtest.h>

namespace dmprof::rules {
namespace {

Sandbox sandbox(const std::map<std::string, double>& row = {}) {
  const std::vector<std::string> columns = {"a", "b", "c"};
  auto opened = Sandbox::open(columns);
  EXPECT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(opened->set_row(row));
  return std::move(*opened);
}

std::optional<bool> truth(const std::string& expression, const std::map<std::string, double>& row) {
  Sandbox box = sandbox(row);
  auto outcome = box.evaluate(expression, {{"limit", 0.5}});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? outcome->truth : std::nullopt;
}

std::string refusal(const std::string& expression) {
  Sandbox box = sandbox({{"a", 1}});
  auto outcome = box.evaluate(expression, {{"limit", 0.5}});
  EXPECT_FALSE(outcome) << expression << " was let through";
  return outcome ? "" : outcome.error().message;
}

TEST(Condition, compares_metrics_with_thresholds) {
  EXPECT_EQ(truth("a > :limit", {{"a", .6}}), true);
  EXPECT_EQ(truth("a > :limit", {{"a", .5}}), false);
  EXPECT_EQ(truth("a > 0.1 AND b < 3 * c", {{"a", 1}, {"b", 5}, {"c", 2}}), true);
  EXPECT_EQ(truth("max(a, b) - min(a, b) > 0.4", {{"a", 1}, {"b", .5}}), true);
}

TEST(Condition, a_missing_metric_matters_only_where_it_decides) {
  EXPECT_EQ(truth("a > 1", {}), std::nullopt);
  EXPECT_EQ(truth("a > 1 AND b > 1", {{"b", 0}}), false);
  EXPECT_EQ(truth("a > 1 OR b > 1", {{"b", 2}}), true);
  EXPECT_EQ(truth("a > 1 OR a IS NULL", {}), true);
}

TEST(Condition, names_the_columns_and_thresholds_it_reads) {
  Sandbox box = sandbox({{"a", 1}, {"b", 1}});
  auto outcome = box.evaluate("a > :limit OR b > 2", {{"limit", 0.5}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->columns, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(outcome->parameters, (std::set<std::string>{"limit"}));
}

TEST(Condition, forgets_the_row_before) {
  Sandbox box = sandbox({{"a", 1}});
  ASSERT_TRUE(box.set_row({{"b", 1}}));
  EXPECT_EQ(box.evaluate("a > 0", {})->truth, std::nullopt);
}

TEST(Condition, not_a_number_counts_as_missing) {
  EXPECT_EQ(truth("a > 0", {{"a", std::numeric_limits<double>::quiet_NaN()}}), std::nullopt);
}

TEST(Condition, only_catalogued_columns_exist) {
  EXPECT_NE(refusal("d > 1").find("no such column"), std::string::npos);
  EXPECT_NE(refusal("\"d\" > 1").find("no such column"), std::string::npos);
}

TEST(Condition, every_way_out_of_the_sandbox_is_closed) {
  refusal("1); DROP TABLE metrics");
  refusal("1) FROM metrics; SELECT (1");
  refusal("1) FROM metrics --");
  refusal("1) FROM metrics /*");
  refusal("(SELECT count(*) FROM sqlite_master)");
  refusal("(SELECT name FROM sqlite_schema)");
  refusal("load_extension('x')");
  refusal("readfile('/etc/passwd') IS NULL");
  refusal("randomblob(1000000000) IS NULL");
  refusal("zeroblob(1000000000) IS NULL");
  refusal("printf('%1000000000d', 1) IS NULL");
  refusal("(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r)");
  refusal("(SELECT 1 FROM pragma_database_list)");
  refusal("a MATCH 'x'");
  refusal("a), (b");
  refusal("PRAGMA writable_schema = 1");
  refusal("'text'");
  refusal("");
  refusal("a > :unknown");
  refusal("a > ?");
  refusal(std::string(5000, '1'));
  std::string deep = "a";
  for (int i = 0; i < 200; ++i) deep = "(" + deep + "+1)";
  refusal(deep);
}

TEST(Condition, a_row_survives_a_refused_expression) {
  Sandbox box = sandbox({{"a", 1}});
  EXPECT_FALSE(box.evaluate("1); DELETE FROM metrics", {}));
  EXPECT_EQ(box.evaluate("a = 1", {})->truth, true);
}

TEST(Condition, a_metric_s_name_cannot_carry_sql) {
  const std::vector<std::string> columns = {"a\" REAL); DROP TABLE x; --"};
  EXPECT_FALSE(Sandbox::open(columns));
  EXPECT_FALSE(Sandbox::open(std::vector<std::string>{}));
}

}  // namespace
}  // namespace dmprof::rules
