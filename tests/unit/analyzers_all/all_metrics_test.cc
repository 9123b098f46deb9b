// What holds for every metric of the catalogue, and the small analyzers (memory, parallel, host, instrument).
#include <gtest/gtest.h>

#include "analyzers/all/register_all.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

const Catalogue& catalogue() {
  static const Catalogue all = full_catalogue();
  return all;
}

MetricValue metric(Recording& recording, const std::string& name) {
  return test::value_of(catalogue(), recording, name);
}

TEST(AllMetrics, every_name_of_the_catalogue_document_is_there) {
  for (const char* name : {"speculation_accuracy",
                           "draft_discard_rate",
                           "acceptance_length",
                           "tokens_per_step",
                           "draft_coverage",
                           "draft_length",
                           "acceptance_by_position",
                           "acceptance_by_length",
                           "acceptance_trend",
                           "draft_cost_ratio",
                           "verify_cost_ratio",
                           "speculation_speedup",
                           "breakeven_acceptance",
                           "optimal_lookahead",
                           "wasted_draft_share",
                           "prefetch_hit_rate",
                           "prefetch_accuracy",
                           "prefetch_coverage",
                           "prefetch_lateness",
                           "prefetch_pollution",
                           "path_prediction_accuracy",
                           "cache_policy_gap",
                           "prefix_cache_hit_rate",
                           "bandwidth_utilization",
                           "useful_byte_share",
                           "step_time_over_roofline",
                           "model_bandwidth_utilization",
                           "compute_utilization",
                           "compute_occupancy",
                           "model_flops_utilization",
                           "operational_intensity",
                           "ridge_point",
                           "effective_bandwidth",
                           "attention_window",
                           "memory_stall_share",
                           "throughput",
                           "decode_throughput",
                           "goodput",
                           "ttft",
                           "itl",
                           "tpot",
                           "e2e_latency",
                           "step_time",
                           "queue_wait",
                           "latency_inflation",
                           "tail_culprit",
                           "time_budget",
                           "concurrency",
                           "batch_size",
                           "speculation_engine_occupancy",
                           "speculation_engine_queue",
                           "capacity_footprint",
                           "oom_events",
                           "pinned_bytes",
                           "kv_cache_usage",
                           "preemption_rate",
                           "recompute_share",
                           "hbm_fragmentation",
                           "compression_ratio",
                           "expert_imbalance",
                           "all_to_all_share",
                           "all_reduce_share",
                           "parameter_server_share",
                           "coherence_share",
                           "link_utilization",
                           "pool_utilization",
                           "host_gap_share",
                           "launches_per_token",
                           "host_core_busy",
                           "step_time_staircase",
                           "load_hysteresis",
                           "energy_per_token",
                           "clock_ratio",
                           "throttle",
                           "events_lost",
                           "recording_overhead"}) {
    EXPECT_NE(catalogue().find(name), nullptr) << name;
  }
}

TEST(AllMetrics, an_empty_recording_makes_every_metric_unavailable_with_a_reason) {
  Recording empty;
  for (const Metric& each : catalogue().metrics()) {
    const MetricValue value = metric(empty, each.name);
    EXPECT_EQ(value.status, ValueStatus::unavailable) << each.name;
    EXPECT_FALSE(value.reason.empty()) << each.name;
    EXPECT_FALSE(value.value) << each.name;
    EXPECT_FALSE(each.needs.empty()) << each.name;
  }
}

// Hostile figures: negative and huge times, ids and counts. Whatever comes out is ok in range, unavailable or invalid.
TEST(AllMetrics, wild_figures_never_give_a_ratio_outside_its_range) {
  constexpr auto huge = std::numeric_limits<std::int64_t>::max() / 4;
  Trace trace;
  trace.tier("resident", 0, true, 1, 1);
  for (int i = 0; i < 12; ++i) {
    trace.step({.duration = i % 3 == 0 ? huge / 16 : 10,
                .drafted = 3,
                .accepted = 900,
                .draft = -5,
                .verify = huge,
                .requests = {1, 2}});
    trace.access(~0ull, i % 2 == 0 ? 1 : 77, static_cast<AccessOutcome>(i % 3), BlockOrigin::prefetched,
                 i % 2 == 0 ? -huge : huge, huge, 3);
    trace.request(1, static_cast<RequestPoint>(i % 6), (i % 2 == 0 ? 1 : -1) * 1000, ~0ull, ~0ull);
  }
  Transfer transfer;
  transfer.start = -huge, transfer.duration = huge, transfer.bytes = ~0ull, transfer.useful_bytes = ~0ull,
  transfer.from = 1;
  trace.recording.transfers.push_back(transfer);
  Kernel kernel;
  kernel.start = 5, kernel.duration = huge, kernel.stall = -huge, kernel.step = 2;
  trace.recording.kernels.push_back(kernel);
  Prefetch prefetch;
  prefetch.victim = ~0ull;
  trace.recording.prefetches.push_back(prefetch);
  trace.done();
  for (const Metric& each : catalogue().metrics()) {
    const MetricValue value = metric(trace.recording, each.name);
    if (!value.ok() || each.unit != "ratio") continue;
    if (value.value) {
      EXPECT_GE(*value.value, 0) << each.name;
      EXPECT_LE(*value.value, 1) << each.name;
    }
    for (const Part& part : value.parts) EXPECT_LE(part.value, 1) << each.name << " " << part.name;
  }
}

TEST(AllMetrics, every_breakdown_that_is_offered_works) {
  Trace trace;
  trace.tier("resident", 0, true, 1e9, 3000);
  trace.request(1, RequestPoint::arrive, 0, 10);
  for (int i = 0; i < 10; ++i) trace.step({.drafted = 4, .accepted = 2});
  trace.done();
  for (const Metric& each : catalogue().metrics()) {
    for (const By by : each.by) {
      const std::vector<std::string> names = {each.name};
      const auto values = catalogue().evaluate(names, trace.recording, {.by = by});
      ASSERT_TRUE(values) << each.name << ": " << values.error().message;
    }
  }
}

void counter(Trace& trace, const char* name, TimeNs time, double value) {
  const NameId id = 100 + static_cast<NameId>(std::string_view(name).size());
  trace.recording.names[id] = name;
  Counter event;
  event.track = 1, event.time = time, event.name = id, event.value = value;
  trace.recording.counters.push_back(event);
}

TEST(AllMetrics, a_counter_under_a_metric_s_name_answers_it) {
  Trace trace;
  trace.warm_up();  // 0..10
  counter(trace, "kv_cache_usage", 0, .9);
  counter(trace, "kv_cache_usage", 10 * ms, .2);
  counter(trace, "kv_cache_usage", 20 * ms, .4);
  for (int i = 0; i < 4; ++i) trace.step({});  // 10..50
  EXPECT_NEAR(*metric(trace.done(), "kv_cache_usage").value, (.2 * 10 + .4 * 30) / 40, 1e-9);
  EXPECT_NE(metric(trace.done(), "hbm_fragmentation").reason.find("no counter 'hbm_fragmentation'"), std::string::npos);
}

TEST(AllMetrics, slices_of_a_known_name_give_a_share_of_step_time) {
  Trace trace;
  trace.recording.names[5] = "all_reduce";
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    Slice slice;
    slice.track = 1, slice.start = trace.now + 1 * ms, slice.duration = 2 * ms, slice.name = 5;
    trace.recording.slices.push_back(slice);
    trace.step({});
  }
  EXPECT_NEAR(*metric(trace.done(), "all_reduce_share").value, .2, 1e-9);
  EXPECT_EQ(metric(trace.done(), "all_to_all_share").status, ValueStatus::unavailable);
}

TEST(AllMetrics, preemptions_are_counted_and_none_is_a_true_zero) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 10; ++i) trace.step({});
  trace.request(1, RequestPoint::arrive, 0, 5);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "preemption_rate").value, 0);
  trace.request(1, RequestPoint::preempt, 30 * ms, 2);
  EXPECT_NEAR(*metric(trace.done(), "preemption_rate").value, 10, 1e-9);
  EXPECT_NEAR(*metric(trace.done(), "recompute_share").value, 2.0 / 11, 1e-9);
}

TEST(AllMetrics, idle_between_launches_and_launches_per_token) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 2; ++k) {
      Kernel kernel;
      kernel.track = 1, kernel.start = trace.now + k * 6 * ms, kernel.duration = 2 * ms, kernel.step = trace.steps + 1;
      trace.recording.kernels.push_back(kernel);
    }
    trace.step({.drafted = 3, .accepted = 3});
  }
  EXPECT_NEAR(*metric(trace.done(), "host_gap_share").value, .4, 1e-9);
  EXPECT_NEAR(*metric(trace.done(), "launches_per_token").value, .5, 1e-9);
}

TEST(AllMetrics, a_jump_between_neighbouring_batch_sizes_is_found) {
  Trace trace;
  for (int i = 0; i < 6; ++i) trace.step({});
  for (int i = 0; i < 6; ++i) trace.step({.duration = 15 * ms, .requests = {1, 2}});
  EXPECT_NEAR(*metric(trace.done(), "step_time_staircase").value, 1.5, 1e-9);
  EXPECT_EQ(metric(trace.done(), "load_hysteresis").status, ValueStatus::unavailable);
  for (int i = 0; i < 6; ++i) trace.step({.duration = 13 * ms});
  EXPECT_NEAR(*metric(trace.done(), "load_hysteresis").value, 1.3, 1e-9);
}

TEST(AllMetrics, lost_events_are_told_by_cause_and_must_balance) {
  Trace trace;
  trace.recording.recorded = 90;
  trace.recording.recorded_by_track[1] = 90;
  trace.recording.emitted[1] = 100;
  EXPECT_EQ(metric(trace.recording, "events_lost").status, ValueStatus::invalid);
  trace.recording.losses.push_back({1, "ring_full", 10});
  const MetricValue value = metric(trace.recording, "events_lost");
  EXPECT_DOUBLE_EQ(*value.value, 10);
  EXPECT_EQ(value.parts.at(0).name, "ring_full");
}

TEST(AllMetrics, overhead_is_events_times_their_measured_cost) {
  Trace trace;
  for (int i = 0; i < 10; ++i) trace.step({});
  trace.recording.emitted[1] = 50'000;
  EXPECT_EQ(metric(trace.recording, "recording_overhead").status, ValueStatus::unavailable);
  trace.recording.environment["recording.event_ns"] = "20";
  EXPECT_NEAR(*metric(trace.recording, "recording_overhead").value, 1e6 / 1e8, 1e-12);
}

TEST(AllMetrics, overhead_counts_what_was_lost_and_what_ran_on_the_engines_own_tracks) {
  Trace trace;
  for (int i = 0; i < 10; ++i) trace.step({});
  trace.recording.environment["recording.event_ns"] = "20";
  EXPECT_EQ(metric(trace.recording, "recording_overhead").status, ValueStatus::unavailable);  // nobody counted
  trace.recording.recorded_by_track = {{1, 40'000}, {2, 900'000}};  // the emitter gave no count; track 2 ran no step
  EXPECT_NEAR(*metric(trace.recording, "recording_overhead").value, 8e5 / 1e8, 1e-12);
  trace.recording.emitted[1] = 50'000;  // 10,000 were lost: emitting them took time all the same
  EXPECT_NEAR(*metric(trace.recording, "recording_overhead").value, 1e6 / 1e8, 1e-12);
  Step other = trace.recording.steps[0];
  other.track = 3, other.step = 99;
  trace.recording.steps.push_back(other);  // a second card doubles the time that is shared by
  EXPECT_NEAR(*metric(trace.recording, "recording_overhead").value, 1e6 / 2e8, 1e-12);
  for (const char* nonsense : {"-1", "abc", "", "1e999"}) {
    trace.recording.environment["recording.event_ns"] = nonsense;
    EXPECT_EQ(metric(trace.recording, "recording_overhead").status, ValueStatus::unavailable) << nonsense;
  }
}

}  // namespace
}  // namespace dmprof
