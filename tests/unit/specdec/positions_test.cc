#include "analyzers/specdec/settings.h"

#include <gtest/gtest.h>

#include "analyzers/specdec/specdec.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name) {
  static const Catalogue all = [] {
    Catalogue catalogue;
    register_specdec(catalogue);
    return catalogue;
  }();
  return test::value_of(all, recording, name);
}

// Ten steps of which `accepted[k]` accept position k+1 (and all before it).
void steps(Trace& trace, std::initializer_list<int> accepted, std::uint32_t drafted, TimeNs duration = 10 * ms) {
  for (int i = 0; i < 10; ++i) {
    std::uint32_t count = 0;
    for (const int of_ten : accepted) count += i < of_ten ? 1 : 0;
    trace.step({.duration = duration, .drafted = drafted, .accepted = count, .verify = duration});
  }
}

void knob(Trace& trace, const char* name, const char* value) {
  Knob knob;
  knob.name = name, knob.value = value, knob.since = trace.now;
  trace.recording.knobs.push_back(knob);
}

TEST(Positions, the_last_one_by_those_who_reach_it_and_by_those_who_verify_it) {
  Trace trace;
  steps(trace, {8, 4, 1}, 3);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "last_position_acceptance").value, .25);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "last_position_yield").value, .1);
  EXPECT_EQ(metric(trace.done(), "last_position_yield").subject, "position 3");
}

TEST(Positions, a_depth_that_hardly_any_step_drafts_is_not_the_usual_one) {
  Trace trace;
  for (int i = 0; i < 10; ++i) steps(trace, {8, 4}, 2);
  trace.step({.drafted = 12, .accepted = 12});
  EXPECT_EQ(metric(trace.done(), "last_position_yield").subject, "position 2");
}

TEST(Positions, a_last_one_that_is_never_reached_has_a_yield_of_zero_and_no_acceptance) {
  Trace trace;
  steps(trace, {0, 0}, 2);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "last_position_yield").value, 0);
  EXPECT_EQ(metric(trace.done(), "last_position_acceptance").status, ValueStatus::unavailable);
}

TEST(Positions, what_pays_is_assumed_without_costs_and_measured_with_them) {
  Trace trace;
  steps(trace, {7, 5, 3, 2, 1}, 5);
  const MetricValue assumed = metric(trace.done(), "paying_lookahead");
  EXPECT_DOUBLE_EQ(*assumed.value, 4);  // 2.5/1.3, 2.7/1.4, 2.8/1.5
  EXPECT_NE(assumed.reason.find("assumed"), std::string::npos);
  EXPECT_NEAR(*metric(trace.done(), "paying_lookahead_tokens").value, 2.7, 1e-9);
  for (int i = 0; i < 5; ++i) trace.step({.duration = 2 * ms, .verify = 2 * ms, .cut = StepCut::baseline});
  const MetricValue measured = metric(trace.done(), "paying_lookahead");  // verifying six costs five steps
  EXPECT_NE(measured.reason.find("measured"), std::string::npos);
  EXPECT_DOUBLE_EQ(*measured.value, 0);
}

TEST(Positions, nothing_drafted_makes_all_of_them_unavailable) {
  Trace trace;
  for (int i = 0; i < 10; ++i) trace.step({});
  trace.done();
  for (const char* name : {"last_position_acceptance", "last_position_yield", "paying_lookahead",
                           "paying_lookahead_tokens", "lookahead_now", "measured_best_lookahead",
                           "measured_lookahead_loss", "acceptance_fall", "acceptance_prefix_ratio"}) {
    const MetricValue value = metric(trace.recording, name);
    EXPECT_EQ(value.status, ValueStatus::unavailable) << name;
    EXPECT_FALSE(value.reason.empty()) << name;
  }
}

TEST(Settings, the_best_is_the_fastest_and_not_the_most_accepted) {
  Trace trace;
  trace.warm_up();
  knob(trace, "lookahead", "2");
  steps(trace, {9, 8}, 2, 10 * ms);  // 2.7 tokens in 10 ms
  knob(trace, "lookahead", "4");
  steps(trace, {9, 8, 4, 2}, 4, 15 * ms);  // 3.3 in 15 ms
  const MetricValue best = metric(trace.done(), "measured_best_lookahead");
  EXPECT_DOUBLE_EQ(*best.value, 2);
  EXPECT_EQ(best.subject, "N = 2 at 270.0 tokens/s; positions 3 to 4 add 0.60 tokens a step and cost 19 %");
  EXPECT_NEAR(*metric(trace.done(), "measured_lookahead_loss").value, 1 - 220.0 / 270, 1e-9);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "lookahead_now").value, 4);
}

TEST(Settings, one_setting_or_too_few_steps_of_another_judge_nothing) {
  Trace trace;
  trace.warm_up();
  knob(trace, "lookahead", "2");
  steps(trace, {9, 8}, 2);
  EXPECT_EQ(metric(trace.done(), "measured_best_lookahead").status, ValueStatus::unavailable);
  knob(trace, "lookahead", "4");
  trace.step({.drafted = 4, .accepted = 4});
  EXPECT_EQ(metric(trace.done(), "measured_best_lookahead").status, ValueStatus::unavailable);
}

TEST(Settings, of_two_alike_the_shallower_is_best_and_a_margin_needs_both_lengths) {
  using specdec::Setting;
  const std::vector<Setting> alike = {{4, "deep", 100, 3.0}, {2, "shallow", 100, 2.5}, {1, "slow", 90, {}}};
  EXPECT_EQ(specdec::best_setting(alike), 1u);
  const auto gained = specdec::margin(alike[1], alike[0]);
  ASSERT_TRUE(gained);
  EXPECT_DOUBLE_EQ(gained->tokens, .5);
  EXPECT_DOUBLE_EQ(gained->cost, 0);
  EXPECT_FALSE(specdec::margin(alike[2], alike[0]));
  EXPECT_FALSE(specdec::margin(alike[0], alike[1]));
}

TEST(Costs, what_speculation_costs_a_step_without_a_draft) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 5; ++i) {
    trace.step({.duration = 25 * ms, .verify = 25 * ms});
    trace.step({.duration = 10 * ms, .verify = 10 * ms, .cut = StepCut::baseline});
  }
  EXPECT_NEAR(*metric(trace.done(), "undrafted_step_cost").value, 2.5, 1e-9);
}

TEST(Trend, a_fall_that_is_shown_and_one_that_is_not) {
  Trace falling, steady;
  for (int i = 0; i < 200; ++i) {
    falling.step({.drafted = 4, .accepted = static_cast<std::uint32_t>(i < 100 ? 3 + i % 2 : 1 + i % 2)});
    steady.step({.drafted = 4, .accepted = static_cast<std::uint32_t>(2 + i % 2)});
    falling.recording.speculation.back().position = static_cast<std::uint32_t>(i);
  }
  const MetricValue fall = metric(falling.done(), "acceptance_fall");
  EXPECT_GT(*fall.value, .4);
  EXPECT_LE(*fall.value, 1);
  EXPECT_GT(*metric(falling.done(), "acceptance_fall_by_length").value, .4);
  EXPECT_DOUBLE_EQ(*metric(steady.done(), "acceptance_fall").value, 0);
  EXPECT_EQ(metric(steady.done(), "acceptance_fall_by_length").status, ValueStatus::unavailable);  // one length
}

TEST(Trend, requests_with_a_cached_prompt_against_the_others) {
  Trace trace;
  trace.request(1, RequestPoint::schedule, 0, 0, 0);
  trace.request(2, RequestPoint::schedule, 0, 0, 16);
  for (int i = 0; i < 10; ++i) {
    trace.step({.drafted = 4, .accepted = 4, .requests = {1}});
    trace.step({.drafted = 4, .accepted = 1, .requests = {2}});
  }
  EXPECT_NEAR(*metric(trace.done(), "acceptance_prefix_ratio").value, .25, 1e-9);
}

}  // namespace
}  // namespace dmprof
