// Whole predictions: the recorded setting gives the recorded figures back, others what can be worked out by hand, and
// what cannot be known is unavailable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/whatif/recordings.h"

namespace dmprof::whatif {
namespace {

using test::figure;
using testing::HasSubstr;

Prediction predict(const Recording& recording, const std::vector<Setting>& settings,
                   std::vector<Profile> profiles = {}) {
  static const std::vector<MetricValue> values = test::steady_values();
  const Model model(recording, values, std::move(profiles));
  auto prediction = model.predict(settings);
  EXPECT_TRUE(prediction) << prediction.error().message;
  return prediction ? *prediction : Prediction{};
}

TEST(WhatIf, the_recorded_setting_gives_the_recorded_figures) {
  const Recording recording = test::steady();
  const Prediction same = predict(recording, {{"lookahead", "2"}});
  EXPECT_TRUE(same.changes.empty());
  EXPECT_EQ(same.reason, "");
  ASSERT_TRUE(same.throughput_residual);
  EXPECT_NEAR(*same.throughput_residual, 0, 0.05);  // not a ratio of a thing to itself: the model against the recording
  for (const char* metric : {"throughput", "step_time", "acceptance_length", "e2e_latency"}) {
    const Figure& one = figure(same, metric);
    ASSERT_TRUE(one.recorded && one.predicted) << metric;
    EXPECT_DOUBLE_EQ(one.predicted->mid, *one.recorded) << metric;
    EXPECT_LT(one.predicted->low, *one.recorded) << metric;
    EXPECT_GT(one.predicted->high, *one.recorded) << metric;
  }
}

TEST(WhatIf, a_shorter_lookahead_follows_from_acceptance_and_cost) {
  const Recording recording = test::steady();
  const Prediction one = predict(recording, {{"lookahead", "1"}});
  const auto gain = one.gain("throughput");
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->mid, (1.75 / 12) / (2.25 / 13), 0.03);
  EXPECT_LT(gain->low, gain->mid);
  EXPECT_GT(gain->high, gain->mid);
  EXPECT_NEAR(figure(one, "step_time").predicted->mid, 12e6, 0.1e6);
  EXPECT_NEAR(figure(one, "acceptance_length").predicted->mid, 1.75, 0.05);
  const Prediction off = predict(recording, {{"lookahead", "0"}});
  EXPECT_NEAR(off.gain("throughput")->mid, (1.0 / 11) / (2.25 / 13), 0.03);
}

TEST(WhatIf, a_longer_lookahead_is_extrapolated_with_a_wider_interval_and_says_so) {
  const Recording recording = test::steady();
  const Prediction longer = predict(recording, {{"lookahead", "6"}});
  const Prediction shorter = predict(recording, {{"lookahead", "1"}});
  const auto wide = longer.gain("throughput"), narrow = shorter.gain("throughput");
  ASSERT_TRUE(wide && narrow);
  EXPECT_GT((wide->high - wide->low) / wide->mid, (narrow->high - narrow->low) / narrow->mid);
  ASSERT_FALSE(longer.assumptions.empty());
  EXPECT_THAT(longer.assumptions[0], HasSubstr("positions 3 to 6 were never drafted"));
}

TEST(WhatIf, fewer_at_once_than_ever_recorded_take_less_time_a_step_and_the_interval_says_how_little_is_known) {
  // Three or four requests at once, 3 tokens each: 9 tokens take 8 ms to verify, 12 take 10 ms.
  using test::ms;
  test::Trace trace;
  trace.warm_up();
  for (std::uint64_t request = 1; request <= 4; ++request) {
    trace.request(request, RequestPoint::arrive, trace.now, 16);
    trace.request(request, RequestPoint::schedule, trace.now);
  }
  for (std::uint32_t i = 0; i < 120; ++i) {
    const bool all = i < 60;
    std::vector<std::uint64_t> requests = {1, 2, 3};
    if (all) requests.push_back(4);
    trace.step({.duration = (all ? 13 : 11) * ms,
                .drafted = 2,
                .accepted = i % 2 == 0 ? 2u : 0u,
                .draft = 2 * ms,
                .verify = (all ? 10 : 8) * ms,
                .requests = requests});
    if (i == 59) trace.request(4, RequestPoint::end, trace.now, 120);
  }
  for (std::uint64_t request = 1; request <= 3; ++request) trace.request(request, RequestPoint::end, trace.now, 240);
  test::add_knob(trace.recording, "lookahead", "2", "0..16");
  test::add_knob(trace.recording, "max_concurrent", "0", "0..64");
  const Recording recording = trace.done();
  // 840 tokens in 1.44 s.
  const std::vector<MetricValue> values = {test::known("throughput", 840 / 1.44, "tokens/s"),
                                           test::known("step_time", 12e6, "ns")};
  const Model model(recording, values, {});
  const std::vector<Setting> one = {{"max_concurrent", "1"}}, four = {{"max_concurrent", "4"}};
  const auto alone = model.predict(one), same = model.predict(four);
  ASSERT_TRUE(alone && same);
  const auto gain = alone->gain("step_time"), unchanged = same->gain("step_time");
  ASSERT_TRUE(gain && unchanged) << alone->reason;
  // 3 tokens: 8 ms less 6 tokens at 2/3 ms each, beside 3 ms of other work. Flat it would be 11 ms.
  EXPECT_NEAR(gain->mid / unchanged->mid, 12.0 / 7, 0.1);
  EXPECT_LT(gain->low / unchanged->mid, 12.0 / 11);
  EXPECT_THAT(alone->assumptions, testing::Contains(HasSubstr("a pass of fewer than 9 tokens was never recorded")));
}

TEST(WhatIf, latency_gains_turn_round) {
  const Recording recording = test::steady();
  const Prediction one = predict(recording, {{"lookahead", "1"}});
  const auto gain = one.gain("step_time");
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->mid, 13.0 / 12, 0.01);
  EXPECT_LT(gain->low, gain->high);
  EXPECT_FALSE(one.gain("no_such_metric"));
}

TEST(WhatIf, a_knob_without_a_model_is_unavailable_and_every_figure_says_why) {
  const Recording recording = test::steady();
  const Prediction more = predict(recording, {{"threads", "4"}});
  EXPECT_THAT(more.reason, HasSubstr("no model says what threads changes"));
  for (const Figure& one : more.figures) {
    EXPECT_FALSE(one.predicted) << one.metric;
    EXPECT_FALSE(one.reason.empty()) << one.metric;
  }
  EXPECT_FALSE(more.gain("throughput"));
}

TEST(WhatIf, another_draft_needs_a_profile_and_takes_acceptance_and_cost_from_it) {
  const Recording recording = test::steady();
  EXPECT_THAT(predict(recording, {{"draft", "3b"}}).reason, HasSubstr("--profile"));

  Recording measured = test::steady();
  for (Knob& knob : measured.knobs) {
    if (knob.name == "draft") knob.value = "3b";
  }
  for (SpeculationStep& row : measured.speculation) {
    if (row.drafted > 0) row.accepted = 2, row.emitted = 3;
  }
  for (Step& step : measured.steps) step.draft_time *= 2, step.duration += step.draft_time / 2;
  const Prediction larger = predict(recording, {{"draft", "3b"}}, {{"larger.dmprof", &measured}});
  EXPECT_EQ(larger.reason, "");
  ASSERT_TRUE(larger.gain("throughput"));
  EXPECT_NEAR(larger.gain("throughput")->mid, (3.0 / 15) / (2.25 / 13), 0.04);
  EXPECT_THAT(larger.assumptions.at(0), HasSubstr("larger.dmprof"));
  // One of another draft does not help.
  EXPECT_NE(predict(recording, {{"draft", "3b"}}, {{"same.dmprof", &recording}}).reason, "");
}

TEST(WhatIf, a_cache_knob_without_accesses_is_unavailable) {
  Recording recording = test::steady();
  test::add_knob(recording, "cache_policy", "0", "0|1|2", "choice");
  EXPECT_THAT(predict(recording, {{"cache_policy", "2"}}).reason, HasSubstr("no block accesses"));
}

TEST(WhatIf, ten_drafts_on_four_engines_gain_from_turns_what_their_rounds_say) {
  test::Trace trace;
  std::vector<std::uint64_t> ten;
  for (std::uint64_t request = 1; request <= 10; ++request) ten.push_back(request);
  trace.warm_up();
  for (const std::uint64_t request : ten) trace.request(request, RequestPoint::arrive, trace.now);
  for (int i = 0; i < 40; ++i)
    trace.step({.duration = 20 * test::ms,
                .drafted = 5,
                .accepted = 2,
                .draft = 15 * test::ms,
                .verify = 5 * test::ms,
                .requests = ten});
  for (const std::uint64_t request : ten) trace.request(request, RequestPoint::end, trace.now);
  Capacity engines;
  engines.name = engines.kind = "speculation_engine", engines.units = 4;
  trace.recording.capacities[9] = engines;
  test::add_knob(trace.recording, "interleave_sched", "0", "0|1", "choice");
  test::add_knob(trace.recording, "max_concurrent", "0", "0..64");
  const Recording recording = trace.done();
  const Prediction turns = predict(recording, {{"interleave_sched", "1"}});
  EXPECT_EQ(turns.reason, "");
  ASSERT_TRUE(turns.gain("throughput"));
  EXPECT_NEAR(turns.gain("throughput")->mid, 20.0 / 18, 0.02);  // 15 rounds become 13
  const Prediction limited = predict(recording, {{"max_concurrent", "4"}});
  EXPECT_EQ(limited.reason, "");
  EXPECT_LT(figure(limited, "step_time").predicted->mid, 13e6);
}

TEST(WhatIf, arrivals_that_leave_the_engine_idle_make_latency_the_objective) {
  test::Trace trace;
  trace.warm_up();
  for (std::uint64_t request = 1; request <= 10; ++request) {
    trace.request(request, RequestPoint::arrive, trace.now);
    for (int i = 0; i < 10; ++i) trace.step({.requests = {request}});
    trace.request(request, RequestPoint::end, trace.now);
    trace.now += 80 * test::ms;
  }
  test::add_knob(trace.recording, "lookahead", "0", "0..16");
  EXPECT_EQ(predict(trace.done(), {{"lookahead", "0"}}).objective, "e2e_latency");
  const Recording busy = test::steady();
  EXPECT_EQ(predict(busy, {{"lookahead", "1"}}).objective, "throughput");
}

TEST(WhatIf, a_recording_with_half_its_tables_answers_what_it_can_and_crashes_on_nothing) {
  const Recording whole = test::steady();
  const std::vector<Setting> settings = {{"lookahead", "4"}};
  Recording part = whole;
  part.requests.clear();
  EXPECT_EQ(predict(part, settings).reason, "");
  part = whole;
  part.speculation.clear();
  EXPECT_NE(predict(part, settings).reason, "");
  part = whole;
  part.steps.clear();
  EXPECT_NE(predict(part, settings).reason, "");
  part = whole;
  for (Step& step : part.steps) step.verify_time = 0;
  EXPECT_NE(predict(part, settings).reason, "");
  part = {};
  part.knobs = whole.knobs;
  EXPECT_NE(predict(part, settings).reason, "");
}

TEST(WhatIf, hostile_figures_stay_figures) {
  Recording recording = test::steady();
  recording.speculation[5].emitted = 4'000'000'000u;
  recording.speculation[6].drafted = recording.speculation[6].verified = 4'000'000'000u;
  recording.steps[7].target_tokens = 4'000'000'000u;
  recording.steps[8].duration = 0;
  const Prediction prediction = predict(recording, {{"lookahead", "3"}});
  for (const Figure& one : prediction.figures) {
    if (!one.predicted) continue;
    EXPECT_TRUE(std::isfinite(one.predicted->mid)) << one.metric;
    EXPECT_LE(one.predicted->low, one.predicted->high) << one.metric;
  }
}

TEST(WhatIf, metrics_that_were_not_measured_cost_their_figure_only) {
  const Recording recording = test::steady();
  const std::vector<MetricValue> values = {test::known("throughput", 170, "tokens/s")};
  const Model model(recording, values);
  const std::vector<Setting> settings = {{"lookahead", "1"}};
  const auto prediction = model.predict(settings);
  ASSERT_TRUE(prediction);
  EXPECT_TRUE(figure(*prediction, "throughput").predicted);
  EXPECT_FALSE(figure(*prediction, "step_time").predicted);
  EXPECT_THAT(figure(*prediction, "step_time").reason, HasSubstr("not evaluated"));
}

}  // namespace
}  // namespace dmprof::whatif
