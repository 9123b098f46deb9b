#include "dmprof/experiment/compare.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace dmprof::experiment {
namespace {

const Variant recorded{"as recorded", "engine", "", {}, {}};
const Variant changed{"lookahead = 8", "engine --lookahead 8", "", {}, {}};
const Objective throughput{"throughput", true};

// A machine whose runs scatter by `noise` (relative) around 100 tokens/s, times `gain` with the change.
struct Machine {
  double gain = 1, noise = 0.02;
  std::mt19937_64 random{7};
  std::vector<std::string> order = {};

  Result<Measurement> operator()(const Variant& variant) {
    order.push_back(variant.name);
    std::normal_distribution<double> scatter(0, noise);
    const double rate = 100 * std::exp(scatter(random)) * (variant.name == changed.name ? gain : 1);
    return Measurement{{{"throughput", rate}, {"itl.p99", 1e9 / rate}}, false};
  }
};

Result<Comparison> compared(Machine& machine, const Objective& objective = throughput) {
  return compare(recorded, changed, objective, [&](const Variant& variant) { return machine(variant); }, {});
}

TEST(Compare, a_clear_gain_is_confirmed_after_seven_pairs_with_an_interval_around_it) {
  Machine machine{1.5};
  const auto result = compared(machine);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::confirmed);
  EXPECT_EQ(result->pairs, 7u);
  const Estimate gain = result->ratios.at("throughput");
  EXPECT_LT(gain.low, gain.mid);
  EXPECT_LT(gain.mid, gain.high);
  EXPECT_NEAR(gain.mid, 1.5, 0.1);
}

TEST(Compare, a_clear_loss_is_called_worse) {
  Machine machine{0.8};
  EXPECT_EQ(compared(machine)->verdict, Verdict::worse);
}

TEST(Compare, for_an_objective_where_less_is_better_less_is_confirmed) {
  Machine machine{1.5};
  EXPECT_EQ(compared(machine, {"itl.p99", false})->verdict, Verdict::confirmed);
}

TEST(Compare, the_first_of_a_pair_alternates_so_that_drift_hits_both) {
  Machine machine{1.5};
  ASSERT_TRUE(compared(machine));
  EXPECT_EQ(std::vector<std::string>(machine.order.begin(), machine.order.begin() + 4),
            (std::vector<std::string>{"as recorded", "lookahead = 8", "lookahead = 8", "as recorded"}));
}

// Promised at most 5 in 100; 400 comparisons give a standard error of about 1 in 100.
TEST(Compare, a_change_that_does_nothing_is_rarely_called_anything_else) {
  int claimed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Machine machine{1.0, 0.05};
    machine.random.seed(seed);
    claimed += compared(machine)->verdict == Verdict::no_effect ? 0 : 1;
  }
  EXPECT_LE(claimed, 400 * 5 / 100 + 8);
}

TEST(Compare, a_quiet_machine_where_nothing_changes_needs_no_more_than_seven_pairs) {
  Machine machine{1.0, 0.001};
  const auto result = compared(machine);
  EXPECT_EQ(result->verdict, Verdict::no_effect);
  EXPECT_EQ(result->pairs, 7u);
}

TEST(Compare, in_virtual_time_equal_repeats_are_exact_and_two_pairs_are_enough) {
  const Runner run = [](const Variant& variant) -> Result<Measurement> {
    return Measurement{{{"throughput", variant.name == changed.name ? 101.0 : 100.0}}, true};
  };
  const auto result = compare(recorded, changed, throughput, run, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->exact);
  EXPECT_EQ(result->pairs, 2u);
  EXPECT_EQ(result->verdict, Verdict::confirmed);
  EXPECT_EQ(result->ratios.at("throughput").low, result->ratios.at("throughput").high);
}

TEST(Compare, in_virtual_time_a_run_that_does_not_repeat_is_treated_as_noisy) {
  double next = 100;
  const Runner run = [&](const Variant&) -> Result<Measurement> {
    return Measurement{{{"throughput", next += 1}}, true};
  };
  const auto result = compare(recorded, changed, throughput, run, {});
  EXPECT_FALSE(result->exact);
  EXPECT_GE(result->pairs, 7u);
}

TEST(Compare, a_run_without_the_objective_is_an_error_that_names_it_and_the_setting) {
  const Runner run = [](const Variant&) -> Result<Measurement> { return Measurement{{{"itl.p99", 1.0}}, false}; };
  const auto result = compare(recorded, changed, throughput, run, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::cannot_answer);
  EXPECT_NE(result.error().message.find("throughput"), std::string::npos);
  EXPECT_NE(result.error().message.find("as recorded"), std::string::npos);
}

TEST(Compare, a_run_that_fails_ends_the_comparison_with_its_error) {
  const Runner run = [](const Variant&) -> Result<Measurement> { return fail(ErrorKind::environment, "no such file"); };
  const auto result = compare(recorded, changed, throughput, run, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no such file");
}

TEST(Compare, zero_and_nonsense_give_no_ratio) {
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    const Runner run = [&](const Variant&) -> Result<Measurement> {
      return Measurement{{{"throughput", rate}}, false};
    };
    EXPECT_FALSE(compare(recorded, changed, throughput, run, {})) << rate;
  }
}

TEST(Compare, a_metric_that_some_runs_lack_has_no_ratio) {
  int runs = 0;
  const Runner run = [&](const Variant&) -> Result<Measurement> {
    Measurement measurement{{{"throughput", 100.0}}, false};
    if (++runs != 3) measurement.values["ttft.p99"] = 5;
    return measurement;
  };
  const auto result = compare(recorded, changed, throughput, run, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->ratios.contains("throughput"));
  EXPECT_FALSE(result->ratios.contains("ttft.p99"));
}

}  // namespace
}  // namespace dmprof::experiment
