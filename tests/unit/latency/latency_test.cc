#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "analyzers/latency/latency.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name, const EvaluateOptions& options = {}) {
  Catalogue catalogue;
  register_latency(catalogue);
  return test::value_of(catalogue, recording, name, options);
}

// Request 1: arrives at 0, scheduled at 5, prefill until 25 with the first token, steps of 10 ms that emit 4, 1 and 3.
Trace one_request() {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0, 100);
  trace.request(1, RequestPoint::schedule, 5 * ms);
  trace.now = 5 * ms;
  trace.step({.duration = 20 * ms, .phase = Phase::prefill});
  trace.request(1, RequestPoint::first_token, 25 * ms);
  trace.step({.drafted = 4, .accepted = 3});
  trace.step({});
  trace.step({.drafted = 4, .accepted = 2});
  trace.request(1, RequestPoint::end, 55 * ms, 9);
  return trace;
}

TEST(Latency, times_of_a_request_are_counted_from_its_arrival) {
  Trace trace = one_request();
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "ttft").value, 25e6);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "queue_wait").value, 5e6);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "e2e_latency").value, 55e6);
}

TEST(Latency, a_step_of_four_tokens_gives_one_gap_and_three_zeros) {
  Trace trace = one_request();
  const MetricValue value = metric(trace.done(), "itl");
  EXPECT_EQ(value.samples, 8u);  // 4 + 1 + 3 tokens after the first
  EXPECT_DOUBLE_EQ(*value.value, 30e6 / 8);
  EXPECT_DOUBLE_EQ(value.spread->p50, 0);
  EXPECT_DOUBLE_EQ(value.spread->max, 10e6);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "tpot").value, 30e6 / 8);
}

TEST(Latency, the_first_token_counts_once_whether_or_not_its_pass_is_a_speculation_step) {
  Trace trace = one_request();
  SpeculationStep row;
  row.track = 1, row.step = 1, row.request = 1, row.time = 25 * ms, row.emitted = 1;
  trace.recording.speculation.push_back(row);
  EXPECT_EQ(metric(trace.done(), "itl").samples, 8u);
}

TEST(Latency, step_time_is_of_decode_and_prefill_is_apart) {
  Trace trace = one_request();
  trace.step({});
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "step_time").value, 10e6);
  const MetricValue by = metric(trace.done(), "step_time", {.by = By::phase});
  EXPECT_DOUBLE_EQ(*by.by.at(0).value[0].value, 20e6);
}

TEST(Latency, throughput_counts_emitted_tokens_over_decode_time_with_its_pauses) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    trace.step({.drafted = 4, .accepted = 3});
    trace.now += 10 * ms;
  }
  trace.step({.duration = 1000 * ms, .cut = StepCut::baseline});
  trace.step({.drafted = 4, .accepted = 3});
  // 5 steps of 4 tokens in 5 x 10 ms and 4 pauses of 10 ms; the baseline second is left out
  const MetricValue value = metric(trace.done(), "throughput");
  EXPECT_NEAR(*value.value, 20 / .09, 1e-6);
  ASSERT_TRUE(value.interval);
}

TEST(Latency, decode_throughput_leaves_the_pauses_out_that_arrivals_make) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 6; ++i) {
    trace.step({.drafted = 4, .accepted = i % 2 == 0 ? 3u : 1u});
    trace.now += 30 * ms;
  }
  trace.step({.duration = 1000 * ms, .phase = Phase::prefill});
  trace.step({.duration = 1000 * ms, .cut = StepCut::baseline});
  trace.step({.drafted = 4, .accepted = 2});
  // 3 x 4 + 3 x 2 + 3 tokens in 7 x 10 ms of decode steps, however long nobody asked in between.
  const MetricValue value = metric(trace.done(), "decode_throughput");
  EXPECT_NEAR(*value.value, 21 / .07, 1e-6);
  ASSERT_TRUE(value.interval);
  EXPECT_LE(value.interval->low, *value.value);
  EXPECT_GE(value.interval->high, *value.value);
  EXPECT_LT(*metric(trace.done(), "throughput").value, *value.value);
}

TEST(Latency, goodput_needs_an_objective_and_counts_who_met_it) {
  Trace trace = one_request();
  EXPECT_NE(metric(trace.done(), "goodput").reason.find("--slo"), std::string::npos);
  EvaluateOptions met, missed;
  met.slo.ttft = 25 * ms, missed.slo.ttft = 24 * ms;
  EXPECT_NEAR(*metric(trace.done(), "goodput", met).value, 9 / .055, 1e-6);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "goodput", missed).value, 0);
  EvaluateOptions gaps;
  gaps.slo.itl = 9 * ms;
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "goodput", gaps).value, 0);
}

TEST(Latency, unfinished_requests_are_not_guessed) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  for (const char* name : {"ttft", "e2e_latency", "queue_wait", "itl", "tpot"}) {
    EXPECT_EQ(metric(trace.done(), name).status, ValueStatus::unavailable) << name;
  }
  Recording empty;
  for (const char* name : {"ttft", "itl", "step_time", "throughput", "decode_throughput", "concurrency", "batch_size",
                           "tail_culprit", "latency_inflation"}) {
    EXPECT_EQ(metric(empty, name).status, ValueStatus::unavailable) << name;
  }
}

TEST(Latency, clocks_that_run_backwards_are_an_instrument_error) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 10 * ms);
  trace.request(1, RequestPoint::first_token, 5 * ms);
  EXPECT_EQ(metric(trace.done(), "ttft").status, ValueStatus::invalid);
}

TEST(Latency, the_request_whose_prefill_holds_up_the_others_is_named) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  trace.request(1, RequestPoint::schedule, 0);
  for (int i = 0; i < 120; ++i) trace.step({});
  trace.request(2, RequestPoint::arrive, trace.now);
  trace.request(2, RequestPoint::schedule, trace.now);
  trace.step({.duration = 200 * ms, .phase = Phase::prefill});
  trace.request(2, RequestPoint::first_token, trace.now);
  trace.step({});
  const MetricValue value = metric(trace.done(), "tail_culprit");
  ASSERT_TRUE(value.ok()) << value.reason;
  ASSERT_EQ(value.parts.size(), 1u);
  EXPECT_EQ(value.parts[0].name, "request 2 (prefill)");
}

TEST(Latency, the_request_that_waits_for_a_transfer_is_named_and_one_that_always_waits_a_little_is_not) {
  Trace trace;
  for (int i = 0; i < 150; ++i) {
    const bool stalled = i == 100;
    const TimeNs start = trace.now;
    const std::uint64_t step = trace.step({.duration = stalled ? 100 * ms : 10 * ms, .requests = {3}});
    trace.access(1, 1, AccessOutcome::miss, BlockOrigin::demand, start, stalled ? 80 * ms : 2 * ms, step);
    if (i == 120) trace.step({.duration = 90 * ms, .requests = {3}});  // slow, but not by waiting
  }
  const MetricValue value = metric(trace.done(), "tail_culprit");
  ASSERT_TRUE(value.ok()) << value.reason;
  ASSERT_EQ(value.parts.size(), 1u);
  EXPECT_EQ(value.parts[0].name, "request 3 (transfer)");
  EXPECT_EQ(value.parts[0].value, 1);
}

TEST(Latency, transfers_alone_name_the_culprit_where_no_access_is_recorded) {
  Trace trace;
  for (int i = 0; i < 150; ++i) {
    const TimeNs start = trace.now;
    trace.step({.duration = i == 100 ? 100 * ms : 10 * ms});
    Transfer transfer;
    transfer.start = start, transfer.duration = i == 100 ? 95 * ms : 9 * ms;
    trace.recording.transfers.push_back(transfer);
  }
  const MetricValue value = metric(trace.done(), "tail_culprit");
  ASSERT_EQ(value.parts.size(), 1u);
  EXPECT_EQ(value.parts[0].name, "request 1 (transfer)");
}

// Steps of 10 ms that emit three tokens, every fourth one a baseline step of 40 ms that emits one.
Trace with_baseline_steps() {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  for (int i = 0; i < 40; ++i) {
    if (i % 4 == 3) {
      trace.step({.duration = 40 * ms, .cut = StepCut::baseline});
    } else {
      trace.step({.drafted = 4, .accepted = 2});
    }
  }
  trace.request(1, RequestPoint::end, trace.now);
  return trace;
}

TEST(Latency, baseline_steps_are_kept_apart_from_the_times_between_tokens) {
  Trace trace = with_baseline_steps();
  const MetricValue gaps = metric(trace.done(), "itl");
  ASSERT_TRUE(gaps.ok()) << gaps.reason;
  EXPECT_DOUBLE_EQ(gaps.spread->max, 10e6);
  EXPECT_NE(gaps.window.find("baseline steps left out"), std::string::npos) << gaps.window;
  EXPECT_EQ(gaps.beside.at(1).name, "gaps of baseline steps, mean");
  EXPECT_DOUBLE_EQ(gaps.beside.at(1).value, 40e6);
  // The first of 30 drafting steps begins the text: 29 gaps of 10 ms and 2 + 29 * 3 tokens.
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "tpot").value, 290e6 / (2 + 29 * 3));
}

TEST(Latency, the_whole_request_includes_its_baseline_steps_and_says_so) {
  Trace trace = with_baseline_steps();
  const MetricValue value = metric(trace.done(), "e2e_latency");
  EXPECT_DOUBLE_EQ(*value.value, 700e6);
  EXPECT_NE(value.window.find("baseline steps included"), std::string::npos) << value.window;
  EXPECT_DOUBLE_EQ(value.beside.at(0).value, 400e6);
  Trace plain = one_request();
  EXPECT_EQ(metric(plain.done(), "e2e_latency").window.find("baseline"), std::string::npos);
}

TEST(Latency, windows_hold_a_request_where_its_figure_became_known) {
  Trace trace;
  // Ten windows of 100 ms: request 1 arrives in the first, is scheduled in the second, has its first token in the third
  // and ends with the run.
  trace.request(1, RequestPoint::arrive, 0);
  trace.request(1, RequestPoint::schedule, 150 * ms);
  trace.now = 150 * ms;
  trace.step({.duration = 100 * ms, .phase = Phase::prefill});
  trace.request(1, RequestPoint::first_token, 250 * ms);
  for (int i = 0; i < 75; ++i) trace.step({});
  trace.request(1, RequestPoint::end, trace.now);
  const std::map<std::string, std::size_t> expected = {{"queue_wait", 1}, {"ttft", 2}, {"e2e_latency", 9}, {"tpot", 9}};
  for (const auto& [name, window] : expected) {
    const MetricValue value = metric(trace.done(), name, {.by = By::window});
    ASSERT_EQ(value.by.size(), 10u) << name;
    for (std::size_t i = 0; i < value.by.size(); ++i)
      EXPECT_EQ(value.by[i].value[0].ok(), i == window) << name << " in " << value.by[i].key;
    EXPECT_EQ(value.window.find("whole run"), 0u) << value.window;
    EXPECT_EQ(value.by[window].value[0].window.find("one window, one sample a request"), 0u)
        << value.by[window].value[0].window;
  }
  const MetricValue gaps = metric(trace.done(), "itl", {.by = By::window});
  std::uint64_t samples = 0;
  for (const ByRow& row : gaps.by) samples += row.value[0].samples;
  EXPECT_GE(samples, 74u);  // the last token of the run is in the last window
  EXPECT_EQ(gaps.by.back().value[0].window.find("decode, one window"), 0u) << gaps.by.back().value[0].window;
}

TEST(Latency, breaking_down_by_request_gives_each_its_own_figure) {
  Trace trace = one_request();
  trace.request(2, RequestPoint::arrive, 55 * ms);
  trace.request(2, RequestPoint::first_token, 95 * ms);
  trace.now = 95 * ms;
  trace.step({.requests = {2}});
  trace.request(2, RequestPoint::end, trace.now);
  for (const auto& [name, first, second] : {std::tuple{"ttft", 25e6, 40e6},
                                            {"e2e_latency", 55e6, 50e6},
                                            {"itl", 30e6 / 8, 10e6},
                                            {"step_time", 10e6, 10e6}}) {
    const MetricValue value = metric(trace.done(), name, {.by = By::request});
    ASSERT_EQ(value.by.size(), 2u) << name;
    EXPECT_DOUBLE_EQ(*value.by[0].value[0].value, first) << name;
    EXPECT_DOUBLE_EQ(*value.by[1].value[0].value, second) << name;
  }
}

TEST(Latency, an_even_run_has_no_culprit) {
  Trace trace;
  for (int i = 0; i < 150; ++i) trace.step({});
  const MetricValue value = metric(trace.done(), "tail_culprit");
  EXPECT_EQ(value.status, ValueStatus::unavailable);
  EXPECT_NE(value.reason.find("no outliers"), std::string::npos);
}

}  // namespace
}  // namespace dmprof
