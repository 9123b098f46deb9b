#include <gtest/gtest.h>

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

TEST(Contention, erlang_c_stands_beside_the_queue) {
  Trace trace = crowd();
  Capacity engines;
  engines.name = "speculation", engines.kind = "speculation_engine", engines.units = 1;
  trace.recording.capacities[9] = engines;
  for (Step& step : trace.recording.steps) step.draft_time = step.batch == 5 ? 4 * ms : 0;
  const MetricValue value = metric(trace.done(), "speculation_engine_queue");
  ASSERT_EQ(value.beside.size(), 1u);
  // one server: Lq = r^2 / (1 - r)
  const double r = 30 * 4.0 * 5 / 1040;
  EXPECT_NEAR(value.beside[0].value, r * r / (1 - r), 1e-9);
}

}  // namespace
}  // namespace dmprof
