// Checks against figures worked out in public: FORMULAS.md gives the sources.
#include "analyzers/specdec/model.h"

#include <cmath>

#include <gtest/gtest.h>

namespace dmprof::specdec {
namespace {

TEST(Model, expected_tokens_by_position_include_the_bonus_token) {
  // unconditional .805, .632, .483 sum to 1.92
  const std::vector<double> a = {.805, .632 / .805, .483 / .632};
  EXPECT_NEAR(expected_tokens(a), 2.92, 1e-9);
}

TEST(Model, one_acceptance_for_all_positions_gives_the_closed_form) {
  const double a = .8;
  EXPECT_NEAR(expected_tokens(a, 5u), (1 - std::pow(a, 6)) / (1 - a), 1e-12);
  EXPECT_DOUBLE_EQ(expected_tokens(1.0, 4u), 5);
  EXPECT_DOUBLE_EQ(expected_tokens(0.0, 4u), 1);
}

TEST(Model, break_even_acceptance_reaches_the_cost_exactly) {
  const double cost = 1 + 5 * .05;
  const std::optional<double> a = breakeven_acceptance(5, cost);
  ASSERT_TRUE(a);
  EXPECT_NEAR(expected_tokens(*a, 5u), cost, 1e-9);
}

TEST(Model, no_acceptance_breaks_even_when_a_step_costs_more_than_it_can_emit) {
  EXPECT_EQ(breakeven_acceptance(4, 5.01), std::nullopt);
  EXPECT_EQ(breakeven_acceptance(4, .9), 0.0);
}

TEST(Model, going_from_5_to_8_pays_only_above_the_published_acceptance) {
  // .74 at c = .05, .82 at c = .10, verification free
  const VerifyCurve free({{9, 1.0}});
  const auto gain = [&](double a, double c) {
    const std::vector<double> eight(8, a);
    const Lookahead result = best_lookahead(eight, free, c);
    return result.speedup[8] - result.speedup[5];
  };
  EXPECT_LT(gain(.73, .05), 0);
  EXPECT_GT(gain(.75, .05), 0);
  EXPECT_LT(gain(.81, .10), 0);
  EXPECT_GT(gain(.83, .10), 0);
}

TEST(Model, the_verify_curve_interpolates_between_and_goes_on_beyond_measured_points) {
  const VerifyCurve curve({{5, 1.4}});
  EXPECT_DOUBLE_EQ(curve.at(1), 1);
  EXPECT_DOUBLE_EQ(curve.at(3), 1.2);
  EXPECT_DOUBLE_EQ(curve.at(5), 1.4);
  EXPECT_DOUBLE_EQ(curve.at(9), 1.8);
  EXPECT_DOUBLE_EQ(VerifyCurve({}).at(7), 1);
}

TEST(Model, a_draft_that_costs_too_much_is_best_left_off) {
  const std::vector<double> a(4, .3);
  EXPECT_EQ(best_lookahead(a, VerifyCurve({{5, 2.8}}), .5).best, 0u);
}

TEST(Model, short_measured_drafts_keep_three_of_seven_positions) {
  // unconditional acceptance of a seven-token draft that fades: three positions carry 2.48 of 2.91 tokens
  const std::vector<double> unconditional = {.739, .478, .261, .174, .130, .087, .043};
  std::vector<double> a;
  double before = 1;
  for (const double p : unconditional) a.push_back(p / before), before = p;
  EXPECT_NEAR(expected_tokens(a), 2.91, .01);
  EXPECT_NEAR(expected_tokens(std::span(a).first(3)), 2.48, .01);
  EXPECT_LE(best_lookahead(a, VerifyCurve({{8, 1.2}}), .12).best, 4u);
}

}  // namespace
}  // namespace dmprof::specdec
