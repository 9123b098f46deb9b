#include "dmprof/report/metric_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "dmprof/report/metric_text.h"

namespace dmprof::report {
namespace {

using nlohmann::json;

MetricValue distribution() {
  MetricValue value;
  value.name = "itl";
  value.unit = "ns";
  value.definition = "time between tokens";
  value.kind = MetricKind::distribution;
  value.direction = Direction::lower_is_better;
  value.status = ValueStatus::ok;
  value.value = 1.5e6;
  value.samples = 42;
  value.window = "decode";
  value.spread = Spread{1e6, 2e6, 3e6, 4e6, 5e6};
  value.interval = ConfidenceInterval{1.4e6, 1.6e6};
  value.beside.push_back({"steps cut short", "steps", 3});
  ByRow row{"request 1", {}};
  MetricValue inner = value;
  inner.beside.clear();
  row.value.push_back(inner);
  value.by.push_back(row);
  return value;
}

TEST(MetricJson, carries_the_keys_scripts_depend_on) {
  const MetricValue value = distribution();
  const json object = json::parse(metrics_json("run.dmprof", std::span(&value, 1), ""));
  EXPECT_EQ(object["run"], "run.dmprof");
  const json& metric = object["metrics"][0];
  EXPECT_EQ(metric["name"], "itl");
  EXPECT_EQ(metric["value"], 1.5e6);
  EXPECT_EQ(metric["unit"], "ns");
  EXPECT_EQ(metric["samples"], 42);
  EXPECT_EQ(metric["definition"], "time between tokens");
  EXPECT_EQ(metric["status"], "ok");
  EXPECT_EQ(metric["reason"], "");
  EXPECT_EQ(metric["p50"], 1e6);
  EXPECT_EQ(metric["p90"], 2e6);
  EXPECT_EQ(metric["p95"], 3e6);
  EXPECT_EQ(metric["p99"], 4e6);
  EXPECT_EQ(metric["max"], 5e6);
  EXPECT_EQ(metric["by"][0]["key"], "request 1");
  EXPECT_FALSE(object.contains("note"));
}

TEST(MetricJson, says_which_direction_is_better_in_the_documented_words) {
  const auto word = [](Direction direction) {
    MetricValue value = distribution();
    value.direction = direction;
    const auto back = parse_metric(metric_json(value), "itl");
    EXPECT_TRUE(back && back->direction == direction);
    return json::parse(metric_json(value))["direction"].get<std::string>();
  };
  EXPECT_EQ(word(Direction::higher_is_better), "higher_is_better");
  EXPECT_EQ(word(Direction::lower_is_better), "lower_is_better");
  EXPECT_EQ(word(Direction::none), "none");
}

TEST(MetricJson, an_unavailable_metric_has_no_value_and_says_why) {
  MetricValue value;
  value.name = "goodput";
  value.status = ValueStatus::unavailable;
  value.reason = "no objective was given";
  value.value = 0;  // must not leak
  const json metric = json::parse(metric_json(value));
  EXPECT_TRUE(metric["value"].is_null());
  EXPECT_EQ(metric["status"], "unavailable");
  EXPECT_EQ(metric["reason"], "no objective was given");
}

TEST(MetricJson, stays_valid_whatever_names_and_numbers_hold) {
  MetricValue value = distribution();
  value.subject = "tier \xff\"\n";
  value.value = std::numeric_limits<double>::quiet_NaN();
  const json metric = json::parse(metric_json(value));
  EXPECT_TRUE(metric["value"].is_null());
}

TEST(MetricJson, comes_back_as_it_was_stored) {
  const MetricValue value = distribution();
  const auto parsed = parse_metric(metric_json(value), "itl");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(metric_json(*parsed), metric_json(value));
}

TEST(MetricJson, refuses_stored_text_that_is_no_such_metric) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"name":"itl"})",
        R"({"name":"itl","status":"ok","kind":"scalar","direction":"none","samples":1,"value":null})",
        R"({"name":"itl","status":"fine","kind":"scalar","direction":"none","samples":1,"value":1})",
        R"({"name":"itl","status":"ok","kind":"scalar","direction":"none","samples":-1,"value":1})",
        R"({"name":7,"status":"ok","kind":"scalar","direction":"none","samples":1,"value":1})",
        R"({"name":"itl","status":"ok","kind":"scalar","direction":"none","samples":1,"value":1,"parts":[7]})"}) {
    EXPECT_FALSE(parse_metric(text, "itl")) << text;
  }
  EXPECT_FALSE(parse_metric(metric_json(distribution()), "ttft"));
}

TEST(MetricJson, refuses_a_breakdown_that_nests_without_end) {
  MetricValue value = distribution();
  for (int depth = 0; depth < 5; ++depth) {
    MetricValue outer = distribution();
    outer.by[0].value[0] = value;
    value = outer;
  }
  EXPECT_FALSE(parse_metric(metric_json(value), "itl"));
}

TEST(MetricText, shows_definition_samples_and_percentiles) {
  const MetricValue value = distribution();
  const std::string text = metrics_text(std::span(&value, 1), true, Style(false));
  for (const char* part : {"time between tokens", "n=42", "P99 4 ms", "request 1", "steps cut short: 3 steps"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(MetricText, an_unavailable_metric_shows_its_reason_instead_of_a_number) {
  MetricValue value = distribution();
  value.status = ValueStatus::unavailable;
  value.reason = "no requests";
  const std::string text = metrics_text(std::span(&value, 1), false, Style(false));
  EXPECT_NE(text.find("unavailable: no requests"), std::string::npos);
  EXPECT_EQ(text.find("1.5"), std::string::npos);
}

}  // namespace
}  // namespace dmprof::report
