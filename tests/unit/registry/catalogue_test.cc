#include "analyzers/registry/catalogue.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "analyzers/registry/view.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

Metric constant(std::string name, std::string unit, double number) {
  return {.name = std::move(name),
          .unit = std::move(unit),
          .definition = "a number the test chose",
          .needs = "nothing",
          .by = {By::phase, By::window},
          .compute = [number](const View&, const Scope&) { return scalar(number, 1); }};
}

Catalogue catalogue_of(std::initializer_list<Metric> metrics) {
  Catalogue catalogue;
  for (const Metric& metric : metrics) catalogue.add(metric);
  return catalogue;
}

TEST(Catalogue, suggests_the_nearest_name_for_a_typo) {
  const Catalogue catalogue =
      catalogue_of({constant("prefetch_hit_rate", "ratio", 1), constant("speculation_accuracy", "ratio", 1)});
  const auto complaint = [&](const std::string& name) {
    const std::vector<std::string> names = {name};
    const auto values = catalogue.evaluate(names, Recording());
    EXPECT_FALSE(values) << name;
    if (values) return std::string();
    EXPECT_EQ(values.error().kind, ErrorKind::usage);
    return values.error().message;
  };
  for (const char* typo : {"prefetch_hit_rat", "prefetch_hitrate", "PREFETCH_HIT_RATE", "Prefetch_Hit_Rate"})
    EXPECT_NE(complaint(typo).find("did you mean prefetch_hit_rate?"), std::string::npos) << complaint(typo);
  EXPECT_NE(complaint("acuracy").find("`dmprof metrics` lists them all"), std::string::npos);
  EXPECT_LT(complaint(std::string(100'000, 'x')).size(), 200u);
}

TEST(Catalogue, every_value_carries_name_unit_and_definition) {
  const Catalogue catalogue = catalogue_of({constant("m", "ns", 5)});
  const MetricValue value = test::value_of(catalogue, Recording(), "m");
  EXPECT_EQ(value.name, "m");
  EXPECT_EQ(value.unit, "ns");
  EXPECT_EQ(value.definition, "a number the test chose");
  EXPECT_FALSE(value.window.empty());
}

TEST(Catalogue, a_ratio_outside_0_to_1_is_an_instrument_error_and_never_a_value) {
  for (const double bad : {1.01, -0.2, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const MetricValue value = test::value_of(catalogue_of({constant("m", "ratio", bad)}), Recording(), "m");
    EXPECT_EQ(value.status, ValueStatus::invalid) << bad;
    EXPECT_FALSE(value.value);
    EXPECT_NE(value.reason.find("instrument error"), std::string::npos);
  }
  for (const double good : {0.0, 0.5, 1.0, 1.0 + 1e-12}) {
    const MetricValue value = test::value_of(catalogue_of({constant("m", "ratio", good)}), Recording(), "m");
    EXPECT_EQ(value.status, ValueStatus::ok) << good;
    EXPECT_LE(*value.value, 1.0);
  }
}

TEST(Catalogue, a_quotient_may_pass_1_but_not_be_infinite_or_negative) {
  EXPECT_TRUE(test::value_of(catalogue_of({constant("m", "x", 3.2)}), Recording(), "m").ok());
  EXPECT_EQ(test::value_of(catalogue_of({constant("m", "x", -1)}), Recording(), "m").status, ValueStatus::invalid);
  EXPECT_EQ(
      test::value_of(catalogue_of({constant("m", "x", std::numeric_limits<double>::infinity())}), Recording(), "m")
          .status,
      ValueStatus::invalid);
  EXPECT_TRUE(test::value_of(catalogue_of({constant("m", "1/h", -1)}), Recording(), "m").ok());
}

TEST(Catalogue, the_guard_looks_at_parts_and_intervals_too) {
  MetricValue value = scalar(0.5, 1);
  value.unit = "ratio";
  value.parts = {{"a", 1.5, 1, false}};
  guard(value);
  EXPECT_EQ(value.status, ValueStatus::invalid);
  EXPECT_TRUE(value.parts.empty());
}

TEST(Catalogue, the_definition_hash_changes_with_the_text_and_only_then) {
  const Metric a = constant("m", "ratio", 1);
  Metric b = a;
  EXPECT_EQ(definition_hash(a), definition_hash(b));
  b.definition += ".";
  EXPECT_NE(definition_hash(a), definition_hash(b));
  Metric c = a, d = a;
  c.name = "ab", c.unit = "c", d.name = "a", d.unit = "bc";
  EXPECT_NE(definition_hash(c), definition_hash(d));
}

TEST(Catalogue, refuses_a_breakdown_that_the_metric_does_not_have) {
  const Catalogue catalogue = catalogue_of({constant("m", "ratio", 1)});
  const std::vector<std::string> names = {"m"};
  const auto values = catalogue.evaluate(names, Recording(), {.by = By::tier});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().kind, ErrorKind::usage);
  EXPECT_NE(values.error().message.find("--by phase"), std::string::npos);
}

TEST(Catalogue, breaks_down_by_phase_and_by_ten_windows) {
  test::Trace trace;
  for (int i = 0; i < 20; ++i) trace.step({});
  const Catalogue catalogue = catalogue_of({constant("m", "ratio", 1)});
  EXPECT_EQ(test::value_of(catalogue, trace.done(), "m", {.by = By::phase}).by.size(), 2u);
  EXPECT_EQ(test::value_of(catalogue, trace.done(), "m", {.by = By::window}).by.size(), 10u);
}

TEST(Catalogue, knows_which_events_to_load) {
  Metric a = constant("a", "ratio", 1), b = constant("b", "ratio", 1);
  a.events = Events::steps, b.events = Events::accesses;
  const Catalogue catalogue = catalogue_of({a, b});
  const std::vector<std::string> names = {"a", "b"};
  EXPECT_EQ(catalogue.events(names), Events::steps | Events::accesses);
}

TEST(Catalogue, what_was_not_loaded_is_unavailable_and_not_zero) {
  Metric metric = constant("a", "ratio", 0);
  metric.events = Events::transfers;
  Recording recording;
  recording.loaded = Events::steps;
  EXPECT_EQ(test::value_of(catalogue_of({metric}), recording, "a").status, ValueStatus::unavailable);
}

}  // namespace
}  // namespace dmprof
