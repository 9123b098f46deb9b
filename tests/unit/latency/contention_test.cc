#include <gtest/gtest.h>

#include <utility>

#include "analyzers/latency/latency.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name) {
  Catalogue catalogue;
  register_latency(catalogue);
  return test::value_of(catalogue, recording, name);
}

// One request for 30 steps of 10 ms, then five for 30 steps of 25 ms.
Trace crowd() {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  for (int i = 0; i < 30; ++i) trace.step({});
  for (std::uint64_t id = 2; id <= 5; ++id) trace.request(id, RequestPoint::arrive, trace.now);
  for (int i = 0; i < 30; ++i) trace.step({.duration = 25 * ms, .draft = 10 * ms, .requests = {1, 2, 3, 4, 5}});
  for (std::uint64_t id = 1; id <= 5; ++id) trace.request(id, RequestPoint::end, trace.now);
  return trace;
}

TEST(Contention, concurrency_and_batch_are_weighted_by_time) {
  Trace trace = crowd();
  EXPECT_NEAR(*metric(trace.done(), "concurrency").value, (1 * 300 + 5 * 750) / 1050.0, 1e-9);
  // 29 steps alone after warm-up
  EXPECT_NEAR(*metric(trace.done(), "batch_size").value, (1 * 290 + 5 * 750) / 1040.0, 1e-9);
}

TEST(Contention, inflation_compares_with_the_window_in_which_one_request_was_alone) {
  Trace trace = crowd();
  const MetricValue value = metric(trace.done(), "latency_inflation");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 2.5, 1e-9);
}

TEST(Contention, a_request_that_failed_is_gone) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  trace.request(2, RequestPoint::arrive, 0);
  for (int i = 0; i < 10; ++i) trace.step({});
  trace.request(2, RequestPoint::fail, 50 * ms);
  trace.request(1, RequestPoint::end, 100 * ms);
  EXPECT_NEAR(*metric(trace.done(), "concurrency").value, 1.5, 1e-9);
  EXPECT_EQ(metric(trace.done(), "e2e_latency").samples, 1u);  // and has no latency
}

TEST(Contention, after_a_failure_the_other_request_is_alone) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  trace.request(2, RequestPoint::arrive, 0);
  for (int i = 0; i < 30; ++i) trace.step({.duration = 20 * ms, .requests = {1, 2}});
  trace.request(2, RequestPoint::fail, trace.now);
  for (int i = 0; i < 30; ++i) trace.step({});
  trace.request(1, RequestPoint::end, trace.now);
  const MetricValue value = metric(trace.done(), "latency_inflation");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 2, 1e-9);
}

TEST(Contention, a_request_that_arrived_before_the_recording_counts_from_its_beginning) {
  Trace trace;
  trace.now = 100 * ms;
  for (int i = 0; i < 5; ++i) trace.step({.requests = {1, 2}});
  trace.request(1, RequestPoint::end, trace.now);
  for (int i = 0; i < 5; ++i) trace.step({.requests = {2}});
  const MetricValue value = metric(trace.done(), "concurrency");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 1.5, 1e-9);
  EXPECT_NE(value.reason.find("2 of 2 requests had arrived before"), std::string::npos) << value.reason;
}

TEST(Contention, attached_in_the_middle_of_a_request_is_not_called_an_engine_without_request_events) {
  Trace trace;
  for (int i = 0; i < 5; ++i) trace.step({});
  const MetricValue value = metric(trace.done(), "concurrency");
  EXPECT_EQ(value.status, ValueStatus::unavailable);
  EXPECT_NE(value.reason.find("none arrived or ended while it was taken"), std::string::npos) << value.reason;
}

TEST(Contention, baseline_steps_inflate_nothing) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0);
  for (int i = 0; i < 30; ++i) trace.step({});
  trace.request(2, RequestPoint::arrive, trace.now);
  for (int i = 0; i < 30; ++i) trace.step({.duration = 20 * ms, .requests = {1, 2}});
  for (int i = 0; i < 5; ++i) trace.step({.duration = 500 * ms, .cut = StepCut::baseline, .requests = {1, 2}});
  EXPECT_NEAR(*metric(trace.done(), "latency_inflation").value, 2, 1e-9);
}

TEST(Contention, waiting_for_an_engine_stands_beside_the_queue_wait) {
  Trace trace = crowd();
  for (std::uint64_t id = 1; id <= 5; ++id) trace.request(id, RequestPoint::schedule, 300 * ms);
  EXPECT_TRUE(metric(trace.done(), "queue_wait").beside.empty());
  Capacity engines;
  engines.name = "speculation", engines.kind = "speculation_engine", engines.units = 4;
  trace.recording.capacities[9] = engines;
  const MetricValue value = metric(trace.done(), "queue_wait");
  // 30 steps draft for 10 ms with five requests on four engines: each waits a fifth of that in the mean.
  ASSERT_EQ(value.beside.size(), 3u);
  EXPECT_NEAR(value.beside[0].value, 60e6, 1);
}

TEST(Contention, engine_figures_have_intervals_that_hold_them) {
  Trace trace = crowd();
  Capacity engines;
  engines.name = "speculation", engines.kind = "speculation_engine", engines.units = 4;
  trace.recording.capacities[9] = engines;
  for (const char* name : {"speculation_engine_occupancy", "speculation_engine_queue"}) {
    const MetricValue value = metric(trace.done(), name);
    ASSERT_TRUE(value.interval) << name;
    EXPECT_LE(value.interval->low, *value.value) << name;
    EXPECT_GE(value.interval->high, *value.value) << name;
  }
}

TEST(Contention, inflation_is_unavailable_without_a_window_alone) {
  Trace trace;
  for (std::uint64_t id = 1; id <= 2; ++id) trace.request(id, RequestPoint::arrive, 0);
  for (int i = 0; i < 40; ++i) trace.step({.requests = {1, 2}});
  const MetricValue value = metric(trace.done(), "latency_inflation");
  EXPECT_EQ(value.status, ValueStatus::unavailable);
  EXPECT_NE(value.reason.find("0 token gaps with one request alone"), std::string::npos) << value.reason;
}

TEST(Contention, engines_are_unavailable_where_the_card_has_none) {
  Trace trace = crowd();
  EXPECT_EQ(metric(trace.done(), "speculation_engine_occupancy").status, ValueStatus::unavailable);
  EXPECT_EQ(metric(trace.done(), "speculation_engine_queue").status, ValueStatus::unavailable);
}

TEST(Contention, five_requests_on_four_engines_leave_one_waiting_while_they_draft) {
  Trace trace = crowd();
  Capacity engines;
  engines.name = "speculation", engines.kind = "speculation_engine", engines.units = 4;
  trace.recording.capacities[9] = engines;
  // 30 x 10 ms of drafting in 1040 ms of decoding
  EXPECT_NEAR(*metric(trace.done(), "speculation_engine_queue").value, 300.0 / 1040, 1e-9);
  EXPECT_NEAR(*metric(trace.done(), "speculation_engine_occupancy").value, 300.0 / 1040, 1e-9);
}

// A job of an engine for a request, as the card marks it.
void draft_job(Trace& trace, std::uint64_t request, TimeNs start, TimeNs duration) {
  trace.recording.names[50] = "draft_job";
  Slice job;
  job.track = 9, job.name = 50, job.start = start, job.duration = duration, job.argument = request;
  trace.recording.slices.push_back(job);
}

// Two engines, three requests, 10 ms of drafting: the third waits 4 ms for the first to end, not all of them.
Trace drafted(bool turns) {
  Trace trace;
  Capacity engines;
  engines.kind = "speculation_engine", engines.units = 2;
  trace.recording.capacities[9] = engines;
  trace.step({.requests = {1, 2, 3}});
  for (int i = 0; i < 10; ++i) {
    const TimeNs begin = trace.now + ms;  // after what the host does
    if (turns) {                          // 1 and 2 are interrupted half way for 3
      draft_job(trace, 1, begin, 2 * ms), draft_job(trace, 2, begin, 4 * ms);
      draft_job(trace, 3, begin + 2 * ms, 4 * ms), draft_job(trace, 1, begin + 6 * ms, 2 * ms);
    } else {
      draft_job(trace, 1, begin, 4 * ms), draft_job(trace, 2, begin, 4 * ms),
          draft_job(trace, 3, begin + 4 * ms, 4 * ms);
    }
    trace.step({.duration = 20 * ms, .draft = 8 * ms, .requests = {1, 2, 3}});
  }
  return trace;
}

TEST(Contention, jobs_of_the_engines_say_how_long_each_request_waited) {
  for (const bool turns : {false, true}) {
    Trace trace = drafted(turns);
    const MetricValue queue = metric(trace.done(), "speculation_engine_queue");
    // Whole: 4 of 20 ms. In turns: the third waits 2 ms, and the first 4 ms between its halves.
    EXPECT_NEAR(*queue.value, turns ? 6.0 / 20 : 4.0 / 20, 1e-9);
    EXPECT_EQ(queue.reason, "");
    EXPECT_NEAR(*metric(trace.done(), "speculation_engine_occupancy").value, 12.0 / (20 * 2), 1e-9);
  }
}

TEST(Contention, without_the_jobs_the_queue_is_estimated_and_says_so) {
  Trace trace = drafted(false);
  trace.recording.slices.clear();
  const MetricValue queue = metric(trace.done(), "speculation_engine_queue");
  EXPECT_NEAR(*queue.value, 8.0 / 20, 1e-9);
  EXPECT_NE(queue.reason.find("estimated"), std::string::npos) << queue.reason;
  EXPECT_NE(queue.definition.find("estimated"), std::string::npos);
}

TEST(Contention, waiting_beside_the_queue_wait_comes_from_the_jobs_too) {
  Trace trace = drafted(false);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    trace.request(id, RequestPoint::arrive, 0);
    trace.request(id, RequestPoint::schedule, 0);
  }
  const MetricValue value = metric(trace.done(), "queue_wait");
  ASSERT_EQ(value.beside.size(), 3u) << value.reason;
  EXPECT_NEAR(value.beside[0].value, 10 * 4 * ms / 3.0, 1);
  EXPECT_NEAR(value.beside[2].value, 10 * 4.0 * ms, 1 * ms);
}

TEST(Contention, erlang_c_stands_beside_the_queue) {
  Trace trace = crowd();
  Capacity engines;
  engines.name = "speculation", engines.kind = "speculation_engine", engines.units = 1;
  trace.recording.capacities[9] = engines;
  for (Step& step : trace.recording.steps) step.draft_time = step.batch == 5 ? 4 * ms : 0;
  const MetricValue value = metric(trace.done(), "speculation_engine_queue");
  ASSERT_EQ(value.beside.size(), 1u);
  // one server: Lq = r^2 / (1 - r), r its busy share
  const double r = 30 * 4.0 / 1040;
  EXPECT_NEAR(value.beside[0].value, r * r / (1 - r), 1e-9);
}

// FORMULAS.md: mean response over service of four servers, 1 + Lq / r.
TEST(Contention, erlang_c_gives_the_textbook_figures_for_four_engines) {
  for (const auto& [utilization, response] : {std::pair{.5, 1.09}, {.7, 1.36}, {.8, 1.75}, {.9, 2.97}, {.95, 5.46}}) {
    Trace trace;
    trace.request(1, RequestPoint::arrive, 0);
    for (int i = 0; i < 50; ++i)
      trace.step({.draft = static_cast<TimeNs>(10e6 * utilization), .requests = {1, 2, 3, 4}});
    Capacity engines;
    engines.name = "speculation", engines.kind = "speculation_engine", engines.units = 4;
    trace.recording.capacities[9] = engines;
    const MetricValue value = metric(trace.done(), "speculation_engine_occupancy");
    EXPECT_NEAR(*value.value, utilization, 1e-9);
    EXPECT_NEAR(1 + value.beside.at(0).value / (4 * utilization), response, .011) << utilization;
  }
}

}  // namespace
}  // namespace dmprof
