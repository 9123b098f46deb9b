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

// Accepted drafts 4, 2, 0, 2 of 4 each, one step without a draft, one baseline step, one step cut short.
Trace mixed() {
  Trace trace;
  for (const std::uint32_t accepted : {4u, 2u, 0u, 2u}) trace.step({.drafted = 4, .accepted = accepted});
  trace.step({});
  trace.step({.cut = StepCut::baseline});
  trace.step({.drafted = 4, .accepted = 1, .cut = StepCut::max_tokens});
  return trace;
}

TEST(Acceptance, accuracy_counts_what_was_verified) {
  Trace trace = mixed();
  const MetricValue value = metric(trace.done(), "speculation_accuracy");
  EXPECT_DOUBLE_EQ(*value.value, 9.0 / 20);
  EXPECT_EQ(value.samples, 20u);
  EXPECT_EQ(value.window, "decode, 1 baseline step left out");  // warm-up changes times, not acceptance
}

TEST(Acceptance, drafted_but_discarded_tokens_are_counted_apart) {
  Trace trace;
  trace.step({.drafted = 4, .accepted = 2});
  trace.recording.speculation[0].drafted = 8;
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "speculation_accuracy").value, .5);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "draft_discard_rate").value, .5);
}

TEST(Acceptance, length_includes_the_bonus_token_and_leaves_out_steps_cut_short) {
  Trace trace = mixed();
  const MetricValue value = metric(trace.done(), "acceptance_length");
  EXPECT_DOUBLE_EQ(*value.value, 1 + 8.0 / 4);
  EXPECT_EQ(value.samples, 4u);
  ASSERT_EQ(value.beside.size(), 1u);
  EXPECT_DOUBLE_EQ(value.beside[0].value, 1);
}

TEST(Acceptance, length_equals_one_plus_the_sum_of_unconditional_acceptance_by_position) {
  Trace trace;
  std::uint64_t random = 1;
  for (int i = 0; i < 300; ++i) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    const auto drafted = static_cast<std::uint32_t>(1 + (random >> 40) % 7);
    trace.step({.drafted = drafted, .accepted = static_cast<std::uint32_t>((random >> 50) % (drafted + 1))});
  }
  const MetricValue length = metric(trace.done(), "acceptance_length");
  double sum = 1;
  for (const Part& part : metric(trace.done(), "acceptance_by_position").parts) sum += part.value;
  EXPECT_NEAR(*length.value, sum, 1e-12);
}

TEST(Acceptance, by_position_gives_unconditional_and_conditional) {
  Trace trace = mixed();
  const MetricValue value = metric(trace.done(), "acceptance_by_position");
  ASSERT_EQ(value.parts.size(), 4u);
  EXPECT_DOUBLE_EQ(value.parts[0].value, 3.0 / 4);
  EXPECT_DOUBLE_EQ(value.parts[1].value, 3.0 / 4);
  EXPECT_DOUBLE_EQ(value.parts[2].value, 1.0 / 4);
  EXPECT_DOUBLE_EQ(value.parts[3].value, 1.0 / 4);
  EXPECT_EQ(value.beside[2].name, "conditional a_3");
  EXPECT_DOUBLE_EQ(value.beside[2].value, 1.0 / 3);
}

TEST(Acceptance, tokens_per_step_counts_steps_without_a_draft_and_not_baseline_steps) {
  Trace trace = mixed();
  // emitted 5, 3, 1, 3, 1, 2 in six steps
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "tokens_per_step").value, 15.0 / 6);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "draft_coverage").value, 5.0 / 6);
}

TEST(Acceptance, long_accepted_drafts_on_few_steps_show_in_coverage) {
  Trace trace;
  for (int i = 0; i < 2; ++i) trace.step({.drafted = 8, .accepted = 6});
  for (int i = 0; i < 98; ++i) trace.step({});
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "acceptance_length").value, 7);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "draft_coverage").value, .02);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "tokens_per_step").value, 1.12);
}

TEST(Acceptance, is_unavailable_and_not_zero_when_speculation_is_off) {
  Trace trace;
  for (int i = 0; i < 5; ++i) trace.step({});
  for (const char* name :
       {"speculation_accuracy", "acceptance_length", "acceptance_by_position", "draft_length", "draft_discard_rate",
        "acceptance_by_length", "acceptance_trend", "draft_cost_ratio", "optimal_lookahead"}) {
    const MetricValue value = metric(trace.done(), name);
    EXPECT_EQ(value.status, ValueStatus::unavailable) << name;
    EXPECT_NE(value.reason.find("speculation was off"), std::string::npos) << name << ": " << value.reason;
  }
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "draft_coverage").value, 0);
}

TEST(Acceptance, is_unavailable_when_the_recording_has_no_speculation_steps) {
  Recording recording;
  for (const char* name : {"speculation_accuracy", "tokens_per_step", "draft_coverage", "acceptance_trend"}) {
    EXPECT_EQ(metric(recording, name).status, ValueStatus::unavailable) << name;
  }
}

TEST(Acceptance, an_emitter_that_accepts_more_than_it_verified_is_an_instrument_error) {
  Trace trace;
  trace.step({.drafted = 2, .accepted = 3});
  EXPECT_EQ(metric(trace.done(), "speculation_accuracy").status, ValueStatus::invalid);
}

TEST(Acceptance, a_request_can_be_looked_at_alone) {
  Trace trace;
  trace.step({.drafted = 4, .accepted = 4, .requests = {1}});
  trace.step({.drafted = 4, .accepted = 0, .requests = {2}});
  const MetricValue value = metric(trace.done(), "speculation_accuracy", {.by = By::request});
  ASSERT_EQ(value.by.size(), 2u);
  EXPECT_EQ(value.by[1].key, "request 2");
  EXPECT_DOUBLE_EQ(*value.by[0].value[0].value, 1);
  EXPECT_DOUBLE_EQ(*value.by[1].value[0].value, 0);
}

TEST(Acceptance, falls_with_length_in_its_buckets) {
  Trace trace;
  for (std::uint32_t i = 0; i < 100; ++i) {
    trace.step({.drafted = 4, .accepted = i < 64 ? 4u : 0u});
    trace.recording.speculation.back().position = i;
  }
  const MetricValue value = metric(trace.done(), "acceptance_by_length");
  EXPECT_DOUBLE_EQ(value.part("length 0-31")->value, 1);
  EXPECT_DOUBLE_EQ(value.part("length 64-127")->value, 0);
  EXPECT_NE(value.part("draft model"), nullptr);
}

TEST(Acceptance, trend_finds_a_decline_and_its_sign) {
  Trace trace;
  for (std::uint32_t i = 0; i < 400; ++i) trace.step({.duration = 1000 * ms, .drafted = 10, .accepted = 10 - i / 50});
  const MetricValue value = metric(trace.done(), "acceptance_trend");
  ASSERT_TRUE(value.ok()) << value.reason;
  // from 1.0 to 0.3 in 400 s
  EXPECT_NEAR(*value.value, -.8 * 9, .6);
  EXPECT_LT(value.interval->high, 0);
}

TEST(Acceptance, a_trend_needs_drafting_steps_and_not_a_product_of_group_sizes) {
  Trace trace;
  // 49 drafting steps among 1,000: grouped by two, 25 groups would pass for 50 steps.
  for (int i = 0; i < 1100; ++i) trace.step(i < 49 ? Trace::StepSpec{.drafted = 4, .accepted = 2} : Trace::StepSpec{});
  const MetricValue value = metric(trace.done(), "acceptance_trend");
  EXPECT_EQ(value.status, ValueStatus::unavailable);
  EXPECT_NE(value.reason.find("only 49 drafting steps"), std::string::npos) << value.reason;
}

}  // namespace
}  // namespace dmprof
