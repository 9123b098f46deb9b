#include <gtest/gtest.h>

#include "analyzers/cache/cache.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;
constexpr auto hit = AccessOutcome::hit, late = AccessOutcome::late, miss = AccessOutcome::miss;
constexpr auto resident = BlockOrigin::resident, prefetched = BlockOrigin::prefetched, demand = BlockOrigin::demand;

MetricValue metric(Recording& recording, const std::string& name, const EvaluateOptions& options = {}) {
  Catalogue catalogue;
  register_cache(catalogue);
  return test::value_of(catalogue, recording, name, options);
}

double beside(const MetricValue& value, const std::string& name) {
  for (const Beside& figure : value.beside) {
    if (figure.name == name) return figure.value;
  }
  ADD_FAILURE() << "no figure '" << name << "'";
  return -1;
}

// Ten demand accesses to the resident tier: 3 hits by prefetch, 2 by residency, 1 late, 4 misses.
Trace ten_accesses() {
  Trace trace;
  const TierId tier = trace.tier("resident", 0, true, 0, 3000);
  trace.tier("backing", 1, false, 1e6);
  trace.warm_up();
  for (int i = 0; i < 3; ++i) trace.step({});
  const std::uint64_t step = trace.steps;
  const TimeNs start = trace.now - 10 * ms;
  for (int i = 0; i < 10; ++i) {
    const TimeNs time = start + i * 100'000;
    if (i < 3) trace.access(i, tier, hit, prefetched, time, 0, step);
    if (i == 3 || i == 4) trace.access(i, tier, hit, resident, time, 0, step);
    if (i == 5) trace.access(i, tier, late, prefetched, time, 1000, step);
    if (i > 5) trace.access(i, tier, miss, demand, time, 2000, step);
  }
  return trace;
}

void prefetch(Trace& trace, PrefetchPoint point, std::uint64_t block, TimeNs time, std::uint64_t victim = 0,
              std::uint64_t step = 0) {
  Prefetch event;
  event.track = 1, event.point = point, event.block = block, event.time = time, event.tier = 1, event.victim = victim;
  event.step = step;
  trace.recording.prefetches.push_back(event);
}

TEST(Cache, hit_rate_counts_residents_and_tells_prefetch_from_residency) {
  Trace trace = ten_accesses();
  const MetricValue value = metric(trace.done(), "prefetch_hit_rate");
  EXPECT_DOUBLE_EQ(*value.value, .5);
  EXPECT_EQ(value.subject, "resident");
  EXPECT_EQ(value.samples, 10u);
  EXPECT_DOUBLE_EQ(beside(value, "owed to prefetch"), .3);
  EXPECT_DOUBLE_EQ(beside(value, "owed to residency"), .2);
  EXPECT_DOUBLE_EQ(beside(value, "late"), .1);
  EXPECT_DOUBLE_EQ(beside(value, "missed"), .4);
  ASSERT_TRUE(value.interval);
}

TEST(Cache, hit_rate_is_of_decode_only_and_leaves_warm_up_out) {
  Trace trace = ten_accesses();
  for (int i = 0; i < 50; ++i) trace.access(i, 1, miss, demand, 0, 0, 0, Phase::prefill);
  for (int i = 0; i < 50; ++i) trace.access(i, 1, miss, demand, 1 * ms, 0, 1);  // step 1 is the warm-up
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefetch_hit_rate").value, .5);
  const MetricValue by = metric(trace.done(), "prefetch_hit_rate", {.by = By::phase});
  EXPECT_DOUBLE_EQ(*by.by.at(0).value[0].value, 0);
  EXPECT_DOUBLE_EQ(*by.by.at(1).value[0].value, .5);
}

TEST(Cache, the_fastest_managed_tier_is_meant_unless_told_otherwise) {
  Trace trace = ten_accesses();
  const TierId slower = trace.tier("pool", 2, true, 0);
  const TierId unmanaged = trace.tier("registers", 0, false, 0);
  const TimeNs time = trace.now - 1 * ms;
  trace.access(1, slower, miss, demand, time, 0, trace.steps);
  trace.access(1, unmanaged, hit, resident, time, 0, trace.steps);
  EXPECT_EQ(metric(trace.done(), "prefetch_hit_rate").subject, "resident");
  const MetricValue by = metric(trace.done(), "prefetch_hit_rate", {.by = By::tier});
  ASSERT_EQ(by.by.size(), 4u);
  EXPECT_EQ(by.by[1].key, "backing");
  EXPECT_EQ(by.by[1].value[0].status, ValueStatus::unavailable);
  EXPECT_DOUBLE_EQ(*by.by[2].value[0].value, 0);
}

TEST(Cache, what_slower_tiers_serve_is_a_share_of_what_the_fastest_was_asked_for) {
  Trace trace = ten_accesses();
  const TierId slower = trace.tier("pool", 2, true, 0);
  for (int i = 0; i < 4; ++i) trace.access(i, slower, i < 3 ? hit : miss, resident, trace.now - 1 * ms, 0, trace.steps);
  const MetricValue value = metric(trace.done(), "offload_hit_share");
  EXPECT_DOUBLE_EQ(*value.value, .3);
  EXPECT_EQ(value.subject, "pool");
}

TEST(Cache, more_served_below_than_was_asked_for_at_the_top_is_an_instrument_error) {
  Trace trace = ten_accesses();
  const TierId slower = trace.tier("pool", 2, true, 0);
  for (int i = 0; i < 11; ++i) trace.access(i, slower, hit, resident, trace.now - 1 * ms, 0, trace.steps);
  const MetricValue value = metric(trace.done(), "offload_hit_share");
  EXPECT_EQ(value.status, ValueStatus::invalid);
  EXPECT_NE(value.reason.find("1.1 for pool"), std::string::npos) << value.reason;
}

TEST(Cache, accuracy_counts_used_against_evicted_unused) {
  Trace trace = ten_accesses();
  prefetch(trace, PrefetchPoint::evicted_unused, 90, trace.now - 1 * ms);
  prefetch(trace, PrefetchPoint::cancelled, 91, trace.now - 1 * ms);
  const MetricValue value = metric(trace.done(), "prefetch_accuracy");
  EXPECT_DOUBLE_EQ(*value.value, 4.0 / 5);
  EXPECT_DOUBLE_EQ(beside(value, "cancelled"), 1);
}

TEST(Cache, coverage_and_lateness_share_their_useful_prefetches) {
  Trace trace = ten_accesses();
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefetch_coverage").value, 4.0 / 8);
  const MetricValue value = metric(trace.done(), "prefetch_lateness");
  EXPECT_DOUBLE_EQ(*value.value, 1.0 / 4);
  EXPECT_DOUBLE_EQ(beside(value, "timeliness"), 3.0 / 4);
}

TEST(Cache, pollution_is_a_miss_to_what_a_prefetch_threw_out) {
  Trace trace = ten_accesses();
  const TimeNs early = trace.now - 20 * ms;
  prefetch(trace, PrefetchPoint::completed, 0, early, 6 + 1);  // block 6 is missed later
  prefetch(trace, PrefetchPoint::completed, 1, early, 7 + 1);  // block 7 comes back by prefetch before it is asked for
  prefetch(trace, PrefetchPoint::completed, 7, early + 1, 50 + 1);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefetch_pollution").value, 1.0 / 4);
}

// Warm-up, four steps of which the second is a baseline step, all of them streaming.
struct BaselineTrace {
  Trace trace;
  std::uint64_t warm_up = 0, plain = 0, baseline = 0, last = 0;
  TimeNs at(std::uint64_t step) const { return trace.recording.steps[step - 1].start + 1 * ms; }
};
BaselineTrace with_baseline() {
  BaselineTrace result;
  result.trace.tier("resident", 0, true, 0, 3000);
  result.warm_up = result.trace.step({});
  result.plain = result.trace.step({.drafted = 4, .accepted = 2});
  result.baseline = result.trace.step({.cut = StepCut::baseline});
  result.trace.step({.drafted = 4, .accepted = 2});
  result.last = result.trace.step({.drafted = 4, .accepted = 2});
  return result;
}

TEST(Cache, accuracy_counts_uses_and_evictions_of_baseline_steps_alike) {
  BaselineTrace steps = with_baseline();
  for (std::uint64_t i = 0; i < 3; ++i) {
    steps.trace.access(i, 1, hit, prefetched, steps.at(steps.baseline), 0, steps.baseline);
    prefetch(steps.trace, PrefetchPoint::evicted_unused, 10 + i, steps.at(steps.baseline), 0, steps.baseline);
  }
  const MetricValue value = metric(steps.trace.done(), "prefetch_accuracy");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_DOUBLE_EQ(*value.value, .5);
  EXPECT_EQ(value.samples, 6u);
}

TEST(Cache, accuracy_leaves_uses_and_evictions_of_warm_up_and_prefill_out_alike) {
  BaselineTrace steps = with_baseline();
  const std::uint64_t prefill = steps.trace.step({.phase = Phase::prefill});
  steps.trace.access(1, 1, hit, prefetched, steps.at(steps.last), 0, steps.last);
  steps.trace.access(2, 1, hit, prefetched, steps.at(steps.warm_up), 0, steps.warm_up);
  steps.trace.access(3, 1, hit, prefetched, steps.at(prefill), 0, prefill, Phase::prefill);
  for (const std::uint64_t step : {steps.warm_up, prefill, steps.plain})
    prefetch(steps.trace, PrefetchPoint::evicted_unused, 9, steps.at(step), 0, step);
  EXPECT_DOUBLE_EQ(*metric(steps.trace.done(), "prefetch_accuracy").value, .5);
  const MetricValue by = metric(steps.trace.done(), "prefetch_accuracy", {.by = By::phase});
  EXPECT_DOUBLE_EQ(*by.by.at(0).value[0].value, .5);
}

TEST(Cache, an_eviction_that_happened_after_its_step_by_the_clock_still_belongs_to_the_step_it_names) {
  BaselineTrace steps = with_baseline();
  steps.trace.access(1, 1, hit, prefetched, steps.at(steps.last), 0, steps.last);
  prefetch(steps.trace, PrefetchPoint::evicted_unused, 9, steps.at(steps.plain), 0, steps.warm_up);
  EXPECT_DOUBLE_EQ(*metric(steps.trace.done(), "prefetch_accuracy").value, 1);
}

TEST(Cache, every_block_that_one_prefetch_threw_out_pollutes) {
  BaselineTrace steps = with_baseline();
  for (const std::uint64_t victim : {7, 8, 9})
    prefetch(steps.trace, PrefetchPoint::displaced, 1, steps.at(steps.plain), victim + 1, steps.plain);
  prefetch(steps.trace, PrefetchPoint::issued, 1, steps.at(steps.plain), 0, steps.plain);
  for (const std::uint64_t block : {7, 8, 9, 50})
    steps.trace.access(block, 1, miss, demand, steps.at(steps.last), 0, steps.last);
  EXPECT_DOUBLE_EQ(*metric(steps.trace.done(), "prefetch_pollution").value, .75);
}

TEST(Cache, what_happens_outside_the_scope_decides_pollution_but_is_not_counted) {
  BaselineTrace steps = with_baseline();
  // Thrown out in warm-up: one comes back before decoding counts, the other is missed in the scope.
  prefetch(steps.trace, PrefetchPoint::displaced, 1, steps.at(steps.warm_up), 7 + 1, steps.warm_up);
  prefetch(steps.trace, PrefetchPoint::displaced, 2, steps.at(steps.warm_up), 8 + 1, steps.warm_up);
  steps.trace.access(7, 1, miss, demand, steps.at(steps.warm_up) + 1, 0, steps.warm_up);
  steps.trace.access(7, 1, miss, demand, steps.at(steps.plain), 0, steps.plain);  // thrown out by a demand meanwhile
  steps.trace.access(8, 1, miss, demand, steps.at(steps.plain), 0, steps.plain);
  const MetricValue value = metric(steps.trace.done(), "prefetch_pollution");
  EXPECT_DOUBLE_EQ(*value.value, .5);
  EXPECT_EQ(value.samples, 2u);
}

TEST(Cache, a_cancelled_prefetch_still_threw_its_victims_out) {
  BaselineTrace steps = with_baseline();
  prefetch(steps.trace, PrefetchPoint::displaced, 1, steps.at(steps.plain), 7 + 1, steps.plain);
  prefetch(steps.trace, PrefetchPoint::issued, 1, steps.at(steps.plain), 0, steps.plain);
  prefetch(steps.trace, PrefetchPoint::cancelled, 1, steps.at(steps.plain) + 1, 0, steps.plain);
  steps.trace.access(7, 1, miss, demand, steps.at(steps.last), 0, steps.last);
  EXPECT_DOUBLE_EQ(*metric(steps.trace.done(), "prefetch_pollution").value, 1);
}

TEST(Cache, a_block_thrown_out_and_asked_for_again_at_the_same_instant_is_back) {
  BaselineTrace steps = with_baseline();
  prefetch(steps.trace, PrefetchPoint::displaced, 1, steps.at(steps.plain), 7 + 1, steps.plain);
  prefetch(steps.trace, PrefetchPoint::issued, 1, steps.at(steps.plain), 0, steps.plain);
  prefetch(steps.trace, PrefetchPoint::issued, 7, steps.at(steps.plain), 0, steps.plain);
  steps.trace.access(7, 1, miss, demand, steps.at(steps.last), 0, steps.last);  // a demand threw it out meanwhile
  EXPECT_DOUBLE_EQ(*metric(steps.trace.done(), "prefetch_pollution").value, 0);
}

TEST(Cache, prediction_is_right_or_wrong_and_unavailable_when_nobody_predicts) {
  Trace trace = ten_accesses();
  EXPECT_EQ(metric(trace.done(), "path_prediction_accuracy").status, ValueStatus::unavailable);
  trace.recording.accesses[0].prediction = Prediction::right;
  trace.recording.accesses[1].prediction = Prediction::right;
  trace.recording.accesses[2].prediction = Prediction::wrong;
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "path_prediction_accuracy").value, 2.0 / 3);
}

TEST(Cache, without_prefetch_its_metrics_are_unavailable_and_not_zero) {
  Trace trace;
  trace.tier("resident", 0, true, 0);
  trace.warm_up();
  for (int i = 0; i < 3; ++i) trace.step({});
  trace.access(1, 1, miss, demand, trace.now - 1, 0, trace.steps);
  for (const char* name : {"prefetch_accuracy", "prefetch_coverage", "prefetch_lateness", "prefetch_pollution"}) {
    EXPECT_EQ(metric(trace.done(), name).status, ValueStatus::unavailable) << name;
  }
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefetch_hit_rate").value, 0);
  Recording empty;
  EXPECT_EQ(metric(empty, "prefetch_hit_rate").status, ValueStatus::unavailable);
}

// A scan of 4 blocks with room for 3, over and over: LRU never hits, the optimum hits (C-1)/(W-1) = 2/3 in the long
// run.
TEST(Cache, policy_gap_of_lru_on_a_scan_is_what_belady_gains) {
  Trace trace;
  const TierId tier = trace.tier("resident", 0, true, 0, 3000);
  trace.warm_up();
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t step = trace.step({});
    for (std::uint64_t block = 0; block < 4; ++block) {
      trace.access(block, tier, miss, demand, trace.now - 10 * ms + static_cast<TimeNs>(block), 0, step);
    }
  }
  Knob knob;
  knob.name = "cache_policy", knob.value = "0";
  EXPECT_EQ(metric(trace.done(), "cache_policy_gap").status, ValueStatus::unavailable);
  trace.recording.knobs.push_back(knob);
  const MetricValue value = metric(trace.done(), "cache_policy_gap");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 2.0 / 3, .02);
  EXPECT_DOUBLE_EQ(beside(value, "policy lru"), 0);
}

TEST(Cache, policy_gap_needs_a_size_and_a_known_policy) {
  Trace trace = ten_accesses();
  Knob knob;
  knob.name = "cache_policy";
  trace.recording.knobs.push_back(knob);
  for (const char* odd : {"99999999999999999999", "4294967296", "-1", "", " 0", "0x0", "0.5", "lru", "77"}) {
    trace.recording.knobs[0].value = odd;
    EXPECT_EQ(metric(trace.done(), "cache_policy_gap").status, ValueStatus::unavailable) << odd;
  }
  trace.recording.knobs[0].value = "0";
  EXPECT_TRUE(metric(trace.done(), "cache_policy_gap").ok());
  trace.recording.capacities[1].size_bytes = 0;
  EXPECT_NE(metric(trace.done(), "cache_policy_gap").reason.find("size of resident"), std::string::npos);
}

TEST(Cache, prefix_hits_count_the_first_computation_only) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0, 100);
  trace.request(1, RequestPoint::schedule, 1, 0, 40);
  trace.request(1, RequestPoint::preempt, 2, 50);
  trace.request(1, RequestPoint::schedule, 3, 0, 100);  // recomputed from its own blocks: no hit
  trace.request(2, RequestPoint::arrive, 4, 100);
  trace.request(2, RequestPoint::schedule, 5, 0, 0);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefix_cache_hit_rate").value, .2);
}

TEST(Cache, no_prefix_cache_is_not_a_hit_rate_of_zero) {
  Trace trace;
  trace.request(1, RequestPoint::arrive, 0, 100);
  trace.request(1, RequestPoint::schedule, 1);
  EXPECT_EQ(metric(trace.done(), "prefix_cache_hit_rate").status, ValueStatus::unavailable);
  Knob knob;
  knob.name = "enable_prefix_caching", knob.value = "1";
  trace.recording.knobs.push_back(knob);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefix_cache_hit_rate").value, 0);
}

}  // namespace
}  // namespace dmprof
