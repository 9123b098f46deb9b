// Measured costs, acceptance and load.
#include "analyzers/whatif/costs.h"

#include <gtest/gtest.h>

#include "analyzers/whatif/acceptance.h"
#include "tests/unit/whatif/recordings.h"

namespace dmprof::whatif {
namespace {

using test::ms;

TEST(Curve, goes_through_its_points_and_on_with_its_slope) {
  Curve curve;
  curve.add(1, 10), curve.add(3, 14);
  EXPECT_DOUBLE_EQ(curve.at(1), 10);
  EXPECT_DOUBLE_EQ(curve.at(2), 12);
  EXPECT_DOUBLE_EQ(curve.at(5), 18);
  EXPECT_DOUBLE_EQ(curve.at(5, 0), 14);
  EXPECT_DOUBLE_EQ(curve.at(5, 2), 22);
}

TEST(Curve, below_its_points_less_work_costs_less_but_at_least_its_share) {
  Curve curve;
  curve.add(4, 10), curve.add(6, 14);
  EXPECT_DOUBLE_EQ(curve.at(3), 8);
  EXPECT_DOUBLE_EQ(curve.at(3, 0), 10);
  EXPECT_DOUBLE_EQ(curve.at(3, 2), 7.5);  // not 6: three quarters of the work take three quarters of the time at least
  EXPECT_DOUBLE_EQ(curve.at(0, 2), 0);
  EXPECT_DOUBLE_EQ(curve.narrowest(), 4);
  curve.add(5, 12, 3);
  EXPECT_DOUBLE_EQ(curve.samples_up_to(3), 0);
  EXPECT_DOUBLE_EQ(curve.samples_up_to(5), 4);
  Curve one_width;
  one_width.add(4, 10);
  EXPECT_DOUBLE_EQ(one_width.at(1), 10);  // nothing says how the cost falls
}

TEST(Curve, a_dip_is_noise_because_more_work_never_costs_less) {
  Curve curve;
  curve.add(1, 10, 1), curve.add(2, 6, 3), curve.add(3, 20, 1);
  EXPECT_DOUBLE_EQ(curve.at(1), 7);  // pooled by samples
  EXPECT_DOUBLE_EQ(curve.at(2), 7);
  EXPECT_DOUBLE_EQ(curve.at(3), 20);
}

TEST(Curve, stretches_and_takes_over_what_lies_beyond) {
  Curve narrow, wide;
  narrow.add(1, 10), narrow.add(2, 12);
  wide.add(2, 99), wide.add(4, 30);
  EXPECT_DOUBLE_EQ(narrow.stretched(2).at(4), 12);
  narrow.extend_with(wide);
  EXPECT_DOUBLE_EQ(narrow.at(2), 12);
  EXPECT_DOUBLE_EQ(narrow.at(4), 30);
  EXPECT_DOUBLE_EQ(Curve().at(3), 0);
}

TEST(DraftRounds, whole_drafts_one_after_the_other_against_turns) {
  const std::vector<std::uint32_t> ten(10, 5);
  EXPECT_DOUBLE_EQ(draft_rounds(ten, {0, false}), 5);   // one pass a position for everybody
  EXPECT_DOUBLE_EQ(draft_rounds(ten, {4, false}), 15);  // three drafts one after the other
  EXPECT_DOUBLE_EQ(draft_rounds(ten, {4, true}), 13);   // 50 tokens on four engines
  EXPECT_DOUBLE_EQ(draft_rounds({5, 5, 5}, {4, false}), 5);
  EXPECT_DOUBLE_EQ(draft_rounds({}, {4, true}), 0);
}

TEST(Load, baseline_steps_of_no_request_are_nobodys) {
  Recording recording = test::steady();
  const Load before = measure_load(View(recording));
  Step step = recording.steps.back();
  step.step += 1000, step.target_tokens = 1, step.draft_time = 0;
  SpeculationStep row;
  row.track = step.track, row.step = step.step, row.time = step.start, row.emitted = 1, row.cut = StepCut::baseline;
  recording.steps.push_back(step), recording.speculation.push_back(row);
  recording.make_sound();
  const Load after = measure_load(View(recording));
  EXPECT_EQ(after.users, before.users);
  EXPECT_EQ(after.requests.size(), before.requests.size());
}

TEST(Costs, of_a_steady_recording_are_its_steps) {
  const Recording recording = test::steady();
  const StepCosts costs = measure_costs(View(recording), {});
  EXPECT_EQ(costs.steps, 160u);
  EXPECT_DOUBLE_EQ(costs.verify.at(3), 10e6);
  EXPECT_DOUBLE_EQ(costs.draft.at(1), 1e6);
  EXPECT_DOUBLE_EQ(costs.other, 1e6);
  for (const double residual : costs.residuals) EXPECT_DOUBLE_EQ(residual, 1);
}

TEST(Load, requests_that_follow_one_another_are_a_closed_load_and_others_are_not) {
  const Recording closed = test::steady();
  const Load load = measure_load(View(closed));
  EXPECT_EQ(load.users, 1u);
  ASSERT_EQ(load.requests.size(), 8u);
  EXPECT_EQ(load.requests[1].decoded, 45u);

  test::Trace trace;
  trace.warm_up();
  for (std::uint64_t request = 1; request <= 6; ++request) {
    trace.request(request, RequestPoint::arrive, trace.now);
    for (int i = 0; i < 4; ++i) trace.step({.requests = {request}});
    trace.request(request, RequestPoint::end, trace.now);
    trace.now += 50 * ms;
  }
  EXPECT_EQ(measure_load(View(trace.done())).users, 0u);
}

TEST(Chances, are_the_measured_shares_and_beyond_them_a_line_that_never_rises) {
  specdec::Acceptance acceptance;
  acceptance.steps = 1000;
  acceptance.positions = {{1000, 1000, 800}, {1000, 800, 600}, {1000, 600, 420}};
  const Chances chances = whatif::chances(acceptance, 5);
  ASSERT_EQ(chances.mid.size(), 5u);
  EXPECT_EQ(chances.measured, 3u);
  EXPECT_DOUBLE_EQ(chances.mid[0], 0.8);
  EXPECT_DOUBLE_EQ(chances.mid[2], 0.7);
  EXPECT_NEAR(chances.mid[3], 0.65, 0.01);
  EXPECT_LT(chances.mid[4], chances.mid[3]);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_LT(chances.low[k], chances.mid[k]);
    EXPECT_GT(chances.high[k], chances.mid[k]);
    EXPECT_GE(chances.low[k], 0);
    EXPECT_LE(chances.high[k], 1);
  }
  EXPECT_GT(chances.high[4] - chances.low[4], chances.high[2] - chances.low[2]);

  acceptance.positions = {{1000, 1000, 500}, {1000, 500, 400}};  // rises by chance: not to be continued
  EXPECT_LE(whatif::chances(acceptance, 4).mid[3], 0.8);
}

TEST(Chances, positions_that_hardly_anybody_reached_are_not_measured) {
  specdec::Acceptance acceptance;
  acceptance.positions = {{100, 100, 20}, {100, 20, 3}, {100, 3, 3}};
  EXPECT_EQ(chances(acceptance, 3).measured, 2u);
  EXPECT_TRUE(chances({}, 3).mid.empty());
}

}  // namespace
}  // namespace dmprof::whatif
