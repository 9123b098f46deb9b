#include "dmprof/experiment/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace dmprof::experiment {
namespace {

SearchOptions options(std::size_t runs = 100) {
  SearchOptions result;
  result.objective = {"throughput", true};
  result.runs = runs;
  result.variant = [](const Settings& settings) {
    Variant variant;
    for (const auto& [knob, value] : settings) variant.line += knob + "=" + value + " ";
    return variant;
  };
  return result;
}

double value_of(const Variant& variant, const std::string& knob, double otherwise) {
  const std::size_t at = variant.line.find(knob + "=");
  return at == std::string::npos ? otherwise : std::stod(variant.line.substr(at + knob.size() + 1));
}

// Throughput has its best at lookahead 4 and distance 8; policy costs tail latency and nothing else.
Measurement hill(const Variant& variant) {
  const double lookahead = value_of(variant, "lookahead", 8), distance = value_of(variant, "distance", 1);
  const double policy = value_of(variant, "policy", 0);
  const double rate =
      100 / (1 + std::pow(std::log2(lookahead / 4), 2) * 0.1) / (1 + std::pow(std::log2(distance / 8), 2) * 0.1);
  return {{{"throughput", rate}, {"itl.p99", (1 + policy) / rate}}, true};
}

const std::vector<Dimension> three = {dimension("lookahead", "1..16", "8"), dimension("distance", "1..64", "1"),
                                      dimension("policy", "0|1|2", "0")};

TEST(Dimension, choices_are_all_tried_and_the_recorded_one_is_known) {
  const Dimension found = dimension("cache_policy", "0|1|2", "1");
  EXPECT_EQ(found.values, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(found.recorded, 1u);
}

TEST(Dimension, a_range_of_numbers_is_tried_at_its_ends_and_at_powers_of_two_around_the_recorded_value) {
  EXPECT_EQ(dimension("lookahead", "0..32", "5").values,
            (std::vector<std::string>{"0", "2", "4", "5", "8", "16", "32"}));
}

TEST(Dimension, a_range_without_a_reasonable_upper_end_stays_near_the_recorded_value) {
  EXPECT_EQ(dimension("prefetch_distance", "0..4096", "1").values, (std::vector<std::string>{"0", "1", "2", "4", "8"}));
  EXPECT_EQ(dimension("resident", "0..", "4").values, (std::vector<std::string>{"0", "1", "2", "4", "8", "16"}));
}

TEST(Dimension, a_recorded_value_near_the_end_of_64_bits_is_tried_with_what_lies_around_it) {
  EXPECT_EQ(dimension("x", "0..", "9223372036854775807").values,
            (std::vector<std::string>{"0", "2305843009213693952", "9223372036854775807"}));
  EXPECT_EQ(dimension("x", "0..", "2305843009213693952").values,
            (std::vector<std::string>{"0", "576460752303423488", "1152921504606846976", "2305843009213693952"}));
  EXPECT_EQ(dimension("x", "-9223372036854775808..0", "-9223372036854775808").values,
            (std::vector<std::string>{"-9223372036854775808", "0"}));
}

TEST(Dimension, a_value_outside_the_range_or_a_range_of_another_form_leaves_nothing_to_try) {
  EXPECT_TRUE(dimension("backing", "file|throttle:BW,LATENCY", "throttle:1GB/s,300us").values.empty());
  EXPECT_TRUE(dimension("temperature", "0..100", "0.7").values.empty());
  EXPECT_TRUE(dimension("x", "", "1").values.empty());
}

TEST(Search, finds_the_best_setting_of_two_knobs_together) {
  const auto found = search(
      three, [](const Variant& variant) { return Result<Measurement>(hill(variant)); }, options());
  ASSERT_TRUE(found);
  const Settings& best = found->trials[found->best].settings;
  EXPECT_EQ(best, (Settings{{"distance", "8"}, {"lookahead", "4"}}));
  EXPECT_TRUE(found->trials[found->best].on_frontier);
}

TEST(Search, never_runs_more_often_than_it_may) {
  for (const std::size_t most : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
    std::size_t runs = 0;
    const auto found = search(
        three,
        [&](const Variant& variant) {
          ++runs;
          return Result<Measurement>(hill(variant));
        },
        options(most));
    ASSERT_TRUE(found);
    EXPECT_LE(runs, most);
    EXPECT_EQ(runs, found->runs);
  }
}

TEST(Search, noise_alone_moves_it_nowhere) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> scatter(0, 0.004);
  const auto found = search(
      three,
      [&](const Variant&) {
        const double rate = 100 * std::exp(scatter(random));
        return Result<Measurement>(Measurement{{{"throughput", rate}, {"itl.p99", 1 / rate}}, false});
      },
      options());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best, 0u);
}

TEST(Search, a_machine_that_slows_down_steadily_does_not_make_later_settings_look_worse) {
  double slow = 1;
  const auto found = search(
      three,
      [&](const Variant& variant) {
        Measurement measured = hill(variant);
        measured.virtual_time = false;
        slow *= 0.999;
        measured.values["throughput"] *= slow;
        return Result<Measurement>(measured);
      },
      options(200));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->trials[found->best].settings, (Settings{{"distance", "8"}, {"lookahead", "4"}}));
}

TEST(Search, a_setting_that_does_not_run_is_told_and_left_out) {
  const auto found = search(
      three,
      [](const Variant& variant) -> Result<Measurement> {
        if (variant.line.find("policy=2") != std::string::npos)
          return fail(ErrorKind::environment, "policy 2 does not start");
        return hill(variant);
      },
      options());
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->failures.empty());
  EXPECT_EQ(found->failures.front(), "policy 2 does not start");
  for (const Trial& trial : found->trials)
    EXPECT_NE(trial.settings.contains("policy") ? trial.settings.at("policy") : "", "2");
}

TEST(Search, the_frontier_holds_only_settings_that_nothing_beats_in_both_figures) {
  const auto found = search(
      three, [](const Variant& variant) { return Result<Measurement>(hill(variant)); }, options());
  ASSERT_TRUE(found);
  for (const Trial& one : found->trials) {
    if (one.settings.contains("policy")) {
      EXPECT_FALSE(one.on_frontier) << "more tail latency at the same throughput";
    }
  }
}

TEST(Search, an_error_of_the_recorded_setting_is_the_answer) {
  const auto found = search(
      three, [](const Variant&) -> Result<Measurement> { return fail(ErrorKind::environment, "gone"); }, options());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "gone");
}

}  // namespace
}  // namespace dmprof::experiment
