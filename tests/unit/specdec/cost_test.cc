#include <gtest/gtest.h>

#include "analyzers/specdec/specdec.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name, const EvaluateOptions& options = {}) {
  Catalogue catalogue;
  register_specdec(catalogue);
  return test::value_of(catalogue, recording, name, options);
}

// Target step of one token: 10 ms. Draft token: 1 ms (c = .1). Verifying five: 12 ms (v = 1.2). Every draft accepted to
// 3 of 4.
Trace measured(int baselines) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 20; ++i) {
    trace.step({.duration = 16 * ms, .drafted = 4, .accepted = 3, .draft = 4 * ms, .verify = 12 * ms});
    if (i < baselines) trace.step({.duration = 10 * ms, .verify = 10 * ms, .cut = StepCut::baseline});
  }
  return trace;
}

TEST(Cost, draft_and_verify_cost_are_measured_over_one_token_steps) {
  Trace trace = measured(5);
  EXPECT_NEAR(*metric(trace.done(), "draft_cost_ratio").value, .1, 1e-12);
  const MetricValue verify = metric(trace.done(), "verify_cost_ratio");
  EXPECT_NEAR(*verify.value, 1.2, 1e-12);
  EXPECT_EQ(verify.subject, "v(5)");
}

TEST(Cost, speedup_is_measured_within_the_recording_and_says_so) {
  Trace trace = measured(5);
  const MetricValue value = metric(trace.done(), "speculation_speedup");
  // 4 tokens in 16 ms over 1 token in 10 ms
  EXPECT_NEAR(*value.value, 2.5, 1e-12);
  EXPECT_NE(value.reason.find("measured"), std::string::npos);
  // prediction: E / (v + N c) = 4 / (1.2 + .4)
  ASSERT_EQ(value.beside.size(), 1u);
  EXPECT_NEAR(value.beside[0].value, 2.5, 1e-12);
}

TEST(Cost, is_unavailable_without_one_token_steps_and_says_how_to_get_them) {
  Trace trace = measured(0);
  for (const char* name :
       {"draft_cost_ratio", "verify_cost_ratio", "speculation_speedup", "breakeven_acceptance", "optimal_lookahead"}) {
    const MetricValue value = metric(trace.done(), name);
    EXPECT_EQ(value.status, ValueStatus::unavailable) << name;
    EXPECT_NE(value.reason.find("--baseline-every"), std::string::npos) << value.reason;
  }
}

TEST(Cost, one_token_steps_at_another_batch_do_not_count) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 10; ++i) {
    trace.step(
        {.duration = 16 * ms, .drafted = 4, .accepted = 3, .draft = 4 * ms, .verify = 12 * ms, .requests = {1, 2}});
    trace.step({.cut = StepCut::baseline});
  }
  EXPECT_EQ(metric(trace.done(), "verify_cost_ratio").status, ValueStatus::unavailable);
}

TEST(Cost, the_engine_s_own_steps_without_a_draft_serve_when_there_is_no_baseline) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 10; ++i) {
    trace.step({.duration = 12 * ms, .drafted = 4, .accepted = 3, .verify = 12 * ms});
    trace.step({.duration = 10 * ms, .verify = 10 * ms});
  }
  const MetricValue value = metric(trace.done(), "speculation_speedup");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NE(value.reason.find("own steps without a draft"), std::string::npos);
  // as it ran: 5 tokens in 22 ms; without: 1 in 10 ms
  EXPECT_NEAR(*value.value, 50.0 / 22, 1e-12);
}

TEST(Cost, break_even_acceptance_solves_for_the_measured_cost) {
  Trace trace = measured(5);
  const MetricValue value = metric(trace.done(), "breakeven_acceptance");
  ASSERT_TRUE(value.ok()) << value.reason;
  const double a = *value.value;
  EXPECT_NEAR(1 + a + a * a + a * a * a + a * a * a * a, 1.2 + .4, 1e-9);
}

TEST(Cost, no_break_even_when_a_step_costs_more_than_it_can_emit) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 10; ++i) {
    trace.step({.duration = 40 * ms, .drafted = 1, .accepted = 1, .draft = 20 * ms, .verify = 20 * ms});
    trace.step({.cut = StepCut::baseline});
  }
  const MetricValue value = metric(trace.done(), "breakeven_acceptance");
  EXPECT_EQ(value.status, ValueStatus::unavailable);
  EXPECT_NE(value.reason.find("none exists"), std::string::npos);
}

TEST(Cost, best_lookahead_drops_a_position_that_is_never_accepted) {
  Trace trace = measured(5);
  // positions 1..3 always accepted, the fourth never: E = 4 for N = 3 and 4, and N = 3 costs less
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "optimal_lookahead").value, 3);
}

TEST(Cost, the_deepest_recorded_lookahead_comes_with_its_stated_extrapolation) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 20; ++i) {
    trace.step({.duration = 14 * ms, .drafted = 2, .accepted = 2, .draft = 2 * ms, .verify = 11 * ms});
    trace.step({.cut = StepCut::baseline});
  }
  const MetricValue value = metric(trace.done(), "optimal_lookahead");
  EXPECT_DOUBLE_EQ(*value.value, 2);
  EXPECT_NE(value.reason.find("if acceptance stayed at 1.00"), std::string::npos) << value.reason;
}

TEST(Cost, waste_is_the_draft_and_verify_time_of_rejected_tokens) {
  Trace trace = measured(0);
  // one of 4 drafted tokens: 1 ms; one of 5 verified: 2.4 ms; of 16 ms
  EXPECT_NEAR(*metric(trace.done(), "wasted_draft_share").value, 3.4 / 16, 1e-12);
}

// Two requests drafted 4 each; of the second 4 are accepted, of the first none. Request 3 drafts nothing.
TEST(Cost, waste_of_a_request_is_its_own_share_of_the_batch) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 6; ++i) {
    trace.step({.duration = 20 * ms, .drafted = 4, .draft = 8 * ms, .verify = 11 * ms, .requests = {1, 2, 3}});
    std::vector<SpeculationStep>& rows = trace.recording.speculation;
    rows.end()[-2].accepted = 4;
    rows.back().drafted = rows.back().verified = 0;
    trace.recording.steps.back().target_tokens = 11;
  }
  const MetricValue value = metric(trace.done(), "wasted_draft_share", {.by = By::request});
  // Request 1: half of the drafting and 4 of 11 verified tokens are lost, of half the drafting, 5 of 11 tokens and a
  // third of the other millisecond.
  ASSERT_EQ(value.by.size(), 3u);
  const double first = 4 + 4, own = 4 + 5 + 1.0 / 3;
  EXPECT_NEAR(*value.by[0].value[0].value, first / own, 1e-9);
  EXPECT_EQ(*value.by[1].value[0].value, 0);
  EXPECT_EQ(*value.by[2].value[0].value, 0);
  EXPECT_NEAR(*value.value, first / 20, 1e-9) << "the batch loses what its requests lose";
}

// A steady draft of depth 3 with baseline steps: v(4) = 1.2, c = .1.
Trace steady_draft(std::uint32_t mostly_accepted) {
  Trace trace;
  for (int i = 0; i < 60; ++i) {
    if (i % 6 == 5) {
      trace.step({.verify = 10 * ms, .cut = StepCut::baseline});
    } else {
      trace.step({.duration = 15 * ms, .drafted = 3, .accepted = mostly_accepted, .draft = 3 * ms, .verify = 12 * ms});
    }
  }
  return trace;
}

TEST(Cost, one_position_more_pays_while_the_last_is_accepted_and_costs_little) {
  Trace accepted = steady_draft(3), rejected = steady_draft(0);
  const MetricValue pays = metric(accepted.done(), "marginal_lookahead");
  ASSERT_TRUE(pays.ok()) << pays.reason;
  // a = 1, 1, 1, 1: 5 tokens for v(5) + 4 c = 1.2667 + .4 against 4 for 1.2 + .3
  EXPECT_NEAR(*pays.value, (5 / (1.2 + .2 / 3 + .4)) / (4 / 1.5), 1e-6);
  EXPECT_EQ(pays.subject, "N = 3 to 4");
  const MetricValue wasted = metric(rejected.done(), "marginal_lookahead");
  ASSERT_TRUE(wasted.ok()) << wasted.reason;
  EXPECT_LT(*wasted.value, 1);
}

TEST(Cost, one_position_more_is_not_judged_without_one_token_steps) {
  Trace trace;
  for (int i = 0; i < 20; ++i) trace.step({.drafted = 3, .accepted = 2, .draft = 3 * ms, .verify = 12 * ms});
  EXPECT_EQ(metric(trace.done(), "marginal_lookahead").status, ValueStatus::unavailable);
}

}  // namespace
}  // namespace dmprof
